// DirectoryReplacement: a directory that atomically replaces another, or none, once complete.
#pragma once

#include "artifact/parent_folders.h"
#include "base/descriptor.h"
#include "base/error.h"

#include <filesystem>

namespace torchere::artifact {

/// The absolute path that a save to `path` writes: links to directories are resolved, without a trailing
/// slash.
Result<std::filesystem::path> resolveTarget(const std::filesystem::path &path);

/// A new directory under a temporary name next to `target`, renamed by commit(), else removed.
/// The process holds a lock on it as long as it has that name: an unlocked directory with such a name
/// is stale, left by a killed process, and is removed by the next replacement of the same target.
class DirectoryReplacement {
public:
  /// Checks that the save destroys nothing: the target does not exist, is an empty directory or, with
  /// `overwrite`, is a directory in which every file is named by the index of its program. Creates parents.
  static Result<DirectoryReplacement> create(const std::filesystem::path &target, bool overwrite);
  DirectoryReplacement(DirectoryReplacement &&other) noexcept;
  DirectoryReplacement &operator=(DirectoryReplacement &&other) = delete;
  ~DirectoryReplacement();

  /// The directory to write the files to.
  const std::filesystem::path &path() const { return temporary; }
  /// Their final path, which errors name.
  const std::filesystem::path &target() const { return place; }

  /// Syncs the new directory to disk, renames it, syncs the rename, and removes the old
  /// directory. Where the file system can exchange two names, readers see either the old directory or
  /// the new one at any time.
  Status commit();

private:
  DirectoryReplacement(std::filesystem::path place, bool overwrite)
      : place(std::move(place)), overwrite(overwrite), parents(this->place) {}
  Status takePlace();
  Status exchange();
  std::filesystem::path place;
  bool overwrite;
  std::filesystem::path temporary; ///< empty when there is none
  Descriptor lock;
  ParentFolders parents;
  bool holdsOld = false; ///< the temporary name is that of the old directory
};

} // namespace torchere::artifact
