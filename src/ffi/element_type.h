// Between the types of elements of XLA's FFI and ours.
#pragma once

#include "base/element_type.h"
#include "ffi/abi.h"

namespace torchere::ffi {

/// None for floats of six bits, which XLA has not.
std::optional<abi::DataType> dataTypeOf(ElementType type);

} // namespace torchere::ffi
