// The bytecode's codes of types, and the version that introduced each.
#pragma once

#include "vhlo/version.h"

#include "mlir/IR/Types.h"

#include <cstdint>

namespace torchere::vhlo {

/// Types that hold others. Those that hold none are rows of scalarTypes().
namespace type_code {
inline constexpr uint64_t complex = 1;
inline constexpr uint64_t function = 8;
inline constexpr uint64_t rankedTensor = 20;
inline constexpr uint64_t boundedTensor = 21; // a ranked tensor with an encoding
inline constexpr uint64_t tuple = 23;
inline constexpr uint64_t quantized = 24;
inline constexpr uint64_t unrankedTensor = 25;
inline constexpr uint64_t quantizedPerAxis = 30;
inline constexpr uint64_t rankedBuffer = 41;
inline constexpr uint64_t future = 42;
} // namespace type_code

struct ScalarType {
  uint64_t code;
  Version since;
  mlir::Type (*get)(mlir::MLIRContext *context);
};

llvm::ArrayRef<ScalarType> scalarTypes();

/// The first version whose artifacts can hold `type`, including its parts; none without a portable form.
std::optional<Version> typeSince(mlir::Type type);

/// The tensor's shape as bytecode has it: unknown sizes are the smallest int64, as in memory.
bool isPortableShape(llvm::ArrayRef<int64_t> shape);

} // namespace torchere::vhlo
