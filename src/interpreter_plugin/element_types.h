// The table between PJRT's element types and the interpreter's.
#pragma once

#include "base/element_type.h"
#include "base/error.h"
#include "pjrt/types.h"

namespace torchere::interpreter_plugin {

/// Unimplemented for PJRT's types that the interpreter has not (tokens), InvalidArgument for no type at all.
Result<ElementType> elementTypeOf(pjrt::BufferType type);
/// Unimplemented for those that PJRT has not.
Result<pjrt::BufferType> bufferTypeOf(ElementType type);

} // namespace torchere::interpreter_plugin
