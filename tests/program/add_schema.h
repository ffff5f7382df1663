// The schema of an op with a keyword argument.
#pragma once

#include <string_view>

namespace torchere::program {

inline constexpr std::string_view addSchema =
    "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor";

} // namespace torchere::program
