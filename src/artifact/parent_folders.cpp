// ParentFolders: the folders above a new file or directory, made and synced to disk.
#include "artifact/parent_folders.h"

#include "base/file.h"
#include "base/folder.h"

#include <system_error>

namespace torchere::artifact {

namespace fs = std::filesystem;

Status ParentFolders::make() {
  std::error_code error;
  oldest = place.parent_path();
  while (!fs::exists(oldest, error) && oldest.has_relative_path())
    oldest = oldest.parent_path();
  return makeDirectories(place.parent_path());
}

Status ParentFolders::synchronize() const {
  fs::path parent = place.parent_path();
  for (; parent != oldest && parent.has_relative_path(); parent = parent.parent_path())
    TORCHERE_TRY(synchronizeDirectory(parent, place));
  return synchronizeDirectory(parent, place);
}

} // namespace torchere::artifact
