// .meta: PyTorch/XLA's description of a function, with exactly its keys, written and read.
#pragma once

#include "base/error.h"
#include "base/json.h"
#include "program/entry_point.h"

#include <string>
#include <string_view>

namespace torchere::artifact {

/// The `stablehlo_version` that we write: the release whose text format and op set our dialect implements.
inline constexpr std::string_view stablehloVersion = "1.17.0";

/// The .meta of a function. `output_signature` lists all results, including state updates. A dimension
/// named in `dynamic_dims` is -1 in `shape`. Non-tensor leaves are in `unused_inputs`, with the name of
/// their Python type as the dtype: "int".
TORCHERE_EXPORT std::string metaText(const program::EntryPoint &entryPoint);

/// The entry point that a .meta describes, with defaults for what it cannot express: inputs are called
/// "args_0", every dynamic dimension has its own symbol, and if there is one, so has every dimension of the
/// outputs (the file only has their traced sizes). A non-tensor leaf is a ConstantInput only if it is None;
/// unlisted positions were Python values that the function does not depend on. `withTrees` false skips the
/// pytrees, for readers that have them in our own format.
TORCHERE_EXPORT Result<program::EntryPoint> readMeta(std::string_view text, std::string_view subject,
                                                     bool withTrees = true);

/// Checks that a .meta and the signature read beside it describe the same arguments and results.
Status checkMetaAgrees(const program::EntryPoint &meta, const program::EntryPoint &signature,
                       std::string_view subject);

} // namespace torchere::artifact
