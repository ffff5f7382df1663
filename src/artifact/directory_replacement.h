// Putting a finished directory in the place of another, or of none.
#pragma once

#include "base/error.h"

#include <filesystem>

namespace torchere::artifact {

/// The absolute path that a save to `path` writes, links to directories resolved, without a trailing slash.
Result<std::filesystem::path> resolveTarget(const std::filesystem::path &path);

/// Checks that a save to `target` destroys nothing: there is no such file, or an empty directory, or, with
/// `overwrite`, a directory that holds parts of a saved program only.
Status checkTarget(const std::filesystem::path &target, bool overwrite);

/// Renames `finished` to `target`. What was there is removed afterwards; where the file system can exchange
/// two names, readers see the old directory or the new one at every moment.
Status replaceDirectory(const std::filesystem::path &finished, const std::filesystem::path &target,
                        bool overwrite);

} // namespace torchere::artifact
