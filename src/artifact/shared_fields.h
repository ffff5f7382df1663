// Fields that several JSON files of a saved program have.
#pragma once

#include "base/dtype.h"
#include "base/json_cursor.h"

namespace torchere::artifact {

/// Fails unless the key "format" is `expected`.
void checkFormat(const JsonCursor &root, int64_t expected);

/// The key "dtype", by torch's name.
DType readDType(const JsonCursor &owner);

} // namespace torchere::artifact
