// .meta: PyTorch/XLA's description of a function, with exactly its keys, written and read.
#pragma once

#include "base/error.h"
#include "base/json.h"
#include "program/entry_point.h"

#include <string>
#include <string_view>

namespace torchere::artifact {

/// The `stablehlo_version` of what we write: the release whose text form and op set our dialect has.
inline constexpr std::string_view stablehloVersion = "1.17.0";

/// The .meta of a function. `output_signature` lists all results, also those that update state. A dimension
/// named in `dynamic_dims` is -1 in `shape`. Leaves that are no tensors stand in `unused_inputs`, with str()
/// of their Python type as the dtype.
TORCHERE_EXPORT std::string metaText(const program::EntryPoint &entryPoint);

/// The entry point that a .meta describes, with what it cannot hold left open: inputs are called "args_0",
/// every dynamic dimension has a symbol of its own, and if there is one, so has every dimension of the
/// outputs (the file holds the traced sizes there). A leaf that is no tensor is a ConstantInput only when it
/// is None; other positions that no list names were Python values that the function does not depend on.
/// `withTrees` false leaves the pytrees out, for readers that have them in a form of ours.
Result<program::EntryPoint> readMeta(std::string_view text, std::string_view subject, bool withTrees = true);

/// Checks that a .meta and the signature read beside it describe the same arguments and results.
Status checkMetaAgrees(const program::EntryPoint &meta, const program::EntryPoint &signature,
                       std::string_view subject);

} // namespace torchere::artifact
