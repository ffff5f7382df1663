// ArchiveReplacement: a file that atomically replaces a saved program's, or none, once complete.
#pragma once

#include "artifact/parent_folders.h"
#include "base/descriptor.h"
#include "base/error.h"

#include <filesystem>

namespace torchere::artifact {

/// A new file under a temporary name next to `target`, renamed by commit(), else removed. As long as it has
/// that name, the process holds a lock on it: an unlocked file with such a name is stale, left by a
/// killed process, and is removed by the next replacement of the same target.
class ArchiveReplacement {
public:
  /// Checks that the save destroys nothing: the target does not exist, is an empty file or, with `overwrite`,
  /// is the file of a saved program and of nothing else. Creates parents.
  static Result<ArchiveReplacement> create(const std::filesystem::path &target, bool overwrite);
  ArchiveReplacement(ArchiveReplacement &&other) noexcept;
  ArchiveReplacement &operator=(ArchiveReplacement &&other) = delete;
  ~ArchiveReplacement();

  /// The file to write to.
  const Descriptor &file() const { return descriptor; }

  /// Syncs the file to disk, renames it, and syncs the rename.
  Status commit();

private:
  ArchiveReplacement(std::filesystem::path target, bool overwrite)
      : target(std::move(target)), overwrite(overwrite), parents(this->target) {}
  Status takePlace();
  std::filesystem::path target;
  bool overwrite;
  std::filesystem::path temporary; ///< empty when there is none
  Descriptor descriptor;
  ParentFolders parents;
};

} // namespace torchere::artifact
