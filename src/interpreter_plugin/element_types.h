// The mapping between PJRT's element types and the interpreter's.
#pragma once

#include "base/element_type.h"
#include "base/error.h"
#include "pjrt/types.h"

namespace torchere::interpreter_plugin {

/// Unimplemented for PJRT's types that the interpreter lacks (tokens), InvalidArgument for an unknown type.
Result<ElementType> elementTypeOf(pjrt::BufferType type);
/// Unimplemented for types that PJRT lacks.
Result<pjrt::BufferType> bufferTypeOf(ElementType type);

} // namespace torchere::interpreter_plugin
