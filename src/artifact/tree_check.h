// Checks a file's trees of arguments and results, in program::TreeSpec's JSON, before they are walked.
#pragma once

#include "base/json_cursor.h"

namespace torchere::artifact {

/// Checks that every node has a known kind and what the kind requires: children, one key per
/// child, no duplicate key, the name of its class. Returns the number of leaves; {"kind": "none"} has none.
int64_t checkTree(const JsonCursor &tree);

/// Checks a tree of (args, kwargs) as well: a tuple of a tuple and a dict with names as keys.
int64_t checkArgumentTree(const JsonCursor &tree);

} // namespace torchere::artifact
