// ParentFolders: the folders above a new file or directory, made and synced to disk.
#pragma once

#include "base/error.h"

#include <filesystem>

namespace torchere::artifact {

class ParentFolders {
public:
  explicit ParentFolders(std::filesystem::path place) : place(std::move(place)) {}

  /// Makes those that are missing.
  Status make();
  /// Syncs the entries of those that make() changed, and that of the place itself.
  Status synchronize() const;

private:
  std::filesystem::path place;
  std::filesystem::path oldest; ///< the innermost that already existed
};

} // namespace torchere::artifact
