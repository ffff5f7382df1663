// Which files of a directory are those of the saved program in it, by the program's own index.
#pragma once

#include "artifact/manifest.h"
#include "base/error.h"
#include "base/folder.h"

#include <string>
#include <vector>

namespace torchere::artifact {

/// How large manifest.json, .meta and .signature.json may be.
inline constexpr size_t jsonSizeLimit = size_t(256) << 20;

/// The names that a manifest gives to the files of its program, manifest.json itself not among them, sorted.
/// A file that may be left out (the text, the second name of a tied weight) is among them.
std::vector<std::string> namedFiles(const Manifest &manifest);

struct DirectoryContents {
  /// The program's files and folders in the order in which they can be removed: whatever the removal ends
  /// at, what is left is still named by an index that is left.
  std::vector<FolderEntry> own;
  /// What no index names, sorted; in a directory without an index, everything.
  std::vector<FolderEntry> foreign;
};

/// Reads the index: manifest.json; without one, every functions/NAME.meta, as PyTorch/XLA writes them, which
/// names the files of its function. The weights and constants are then the npy files of their folders. Fails
/// when there is an index that cannot be read.
Result<DirectoryContents> examineContents(const Folder &folder);

/// Removes the program, and then the directory at `path`, which `folder` is, unless something else lies in
/// it.
Status removeProgram(const Folder &folder, const DirectoryContents &contents,
                     const std::filesystem::path &path);

} // namespace torchere::artifact
