// Programs whose weights are constants of their modules.
#pragma once

#include "artifact/bundle.h"
#include "vhlo/version.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace torchere::artifact {

/// What a module can hold: readers count its bytes in 31 bits.
inline constexpr uint64_t embeddedLimit = (uint64_t(1) << 31) - 1;

/// The program with weights and constants in the modules of its functions, or of one of them, which it then
/// consists of. What any function writes stays an argument, and its initial value in the state dict: a
/// constant could not change. Modules are portable artifacts for StableHLO `target`.
///
/// Errors: InvalidArgument, with the sizes, for a function whose weights have more than `limit` bytes;
/// FailedPrecondition for weights without data.
TORCHERE_EXPORT Result<Bundle> embedWeights(const Bundle &bundle, const vhlo::Version &target,
                                            std::optional<std::string_view> function = std::nullopt,
                                            uint64_t limit = embeddedLimit);

} // namespace torchere::artifact
