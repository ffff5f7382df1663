// The trees of arguments and results of a file, as program::TreeSpec has them: checked before anybody walks
// them.
#pragma once

#include "base/error.h"
#include "base/json.h"

namespace torchere::artifact {

/// Checks that every node is of a kind that there is and has what its kind has: children, as many keys as
/// children, no key twice, the name of its class. Gives the number of leaves; {"kind": "none"} is none.
Result<int64_t> checkTree(const JsonCursor &tree);

/// Checks a tree of (args, kwargs) as well: a tuple of a tuple and a dict with names as keys.
Result<int64_t> checkArgumentTree(const JsonCursor &tree);

} // namespace torchere::artifact
