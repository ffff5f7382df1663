// Pytrees in PyTorch/XLA's files: converts torch's text of a tree to the JSON of program::TreeSpec.
#pragma once

#include "base/error.h"
#include "program/program.h"

#include <string>
#include <string_view>

namespace torchere::artifact {

/// Reads what torch.utils._pytree.treespec_dumps writes (protocol 1), for example
/// [1, {"type": "builtins.tuple", "context": "null", "children_spec": [...]}].
Result<std::string> treeJsonFromTorch(std::string_view torchText, std::string_view subject);

} // namespace torchere::artifact
