// The table between torch's dtypes and PJRT's element types.
#pragma once

#include "base/dtype.h"
#include "pjrt/api.h"

#include <optional>
#include <string_view>

namespace torchere::runtime {

/// PJRT's type; none for complex32, which PJRT lacks.
TORCHERE_EXPORT std::optional<pjrt::BufferType> bufferType(DType dtype);
/// torch's dtype; none for PJRT's types that torch lacks (4-bit integers, tokens, ...).
TORCHERE_EXPORT std::optional<DType> dtypeFromBufferType(pjrt::BufferType type);

} // namespace torchere::runtime
