// A module as TensorFlow runs it: checked for what its op XlaCallModule cannot run, in the oldest StableHLO.
#pragma once

#include "stablehlo/module.h"
#include "vhlo/version.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace torchere::passes {

/// The type of an argument or a result of @main.
struct MainType {
  std::string elementType; ///< "f32", as MLIR writes it
  std::vector<int64_t> shape;
};

/// A size that is not known before the call, in MainType::shape.
inline constexpr int64_t unknownSize = -1;

struct TensorFlowForm {
  std::string bytecode;  ///< the portable artifact
  vhlo::Version version; ///< the oldest that holds the module
  std::vector<MainType> arguments;
  std::vector<MainType> results;
};

/// Unimplemented for what TensorFlow cannot run, with the op and its place: bounded sizes, shapes that depend
/// on the data of tensors, quantization, a custom call that XLA does not know. `name` starts the errors.
TORCHERE_EXPORT Result<TensorFlowForm> tensorFlowForm(const stablehlo::Module &module, std::string_view name);

} // namespace torchere::passes
