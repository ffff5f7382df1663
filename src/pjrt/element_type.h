// The table between PJRT's types of elements and ours.
#pragma once

#include "base/element_type.h"
#include "base/export.h"
#include "pjrt/types.h"

#include <optional>

namespace torchere::pjrt {

/// None for types that PJRT has not (6-bit floats).
TORCHERE_EXPORT std::optional<BufferType> bufferTypeOf(ElementType type);
/// None for PJRT's types that are no elements of tensors (tokens), and for no type at all.
TORCHERE_EXPORT std::optional<ElementType> elementTypeOf(BufferType type);

/// The same for torch's types; none for complex32, which PJRT has not.
TORCHERE_EXPORT std::optional<BufferType> bufferTypeOf(DType dtype);
/// None for what torch has not, too (4-bit integers).
TORCHERE_EXPORT std::optional<DType> dtypeOf(BufferType type);

} // namespace torchere::pjrt
