// Which files of a directory belong to the saved program in it, according to its own index.
#pragma once

#include "artifact/manifest.h"
#include "base/error.h"
#include "base/folder.h"

#include <string>
#include <vector>

namespace torchere::artifact {

/// The maximum size of manifest.json, .meta and .signature.json.
inline constexpr size_t jsonSizeLimit = size_t(256) << 20;

/// The names of the program's files according to its manifest, without manifest.json itself, sorted.
/// Optional files (the text, the second name of a tied weight) are included.
std::vector<std::string> namedFiles(const Manifest &manifest);

struct DirectoryContents {
  /// The program's files and folders in removal order: wherever the removal stops, the remaining files are
  /// still named by a remaining index.
  std::vector<FolderEntry> own;
  /// Files that no index names, sorted; in a directory without an index, all of them.
  std::vector<FolderEntry> foreign;
};

/// Reads the index: manifest.json; without one, every functions/NAME.meta, as PyTorch/XLA writes them, which
/// names the files of its function. The weights and constants are then the npy files of their folders. Fails
/// when there is an index that cannot be read.
Result<DirectoryContents> examineContents(const Folder &folder);

/// Removes the program, and then the directory at `path` (which is `folder`), unless it contains something
/// else.
Status removeProgram(const Folder &folder, const DirectoryContents &contents,
                     const std::filesystem::path &path);

} // namespace torchere::artifact
