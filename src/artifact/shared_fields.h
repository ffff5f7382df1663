// Fields that occur in several JSON files of a saved program.
#pragma once

#include "base/dtype.h"
#include "base/json_cursor.h"

namespace torchere::artifact {

/// Fails unless the value of "format" is `expected`.
void checkFormat(const JsonCursor &root, int64_t expected);

/// The value of "dtype", a torch name.
DType readDType(const JsonCursor &owner);

} // namespace torchere::artifact
