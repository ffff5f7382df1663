// Folder: a directory that is held open, so that what is read of it is of one directory whatever is renamed
// meanwhile; and the names that stay inside it.
#pragma once

#include "base/descriptor.h"
#include "base/error.h"
#include "base/file.h"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace torchere {

/// Refuses a name that could leave its directory or that names one file in two ways: empty, absolute, with a
/// NUL, with an empty, "." or ".." component, or not UTF-8. "a/b" is a name. `subject` starts the message.
TORCHERE_EXPORT Status checkRelativeName(std::string_view name, std::string_view subject);

struct FolderEntry {
  std::string name; ///< from the folder that was asked: "data/block/weight"
  bool isFolder = false;
};

/// A folder whose files are opened by names, as checkRelativeName() allows them. A link in it may lead to
/// another place in it, and nowhere else. The path is looked up once, by open().
class TORCHERE_EXPORT Folder {
public:
  /// `shown` is what errors name, where that is not the folder itself.
  static Result<Folder> open(const std::filesystem::path &path, const std::filesystem::path &shown = {});

  /// As errors name it.
  const std::filesystem::path &path() const { return shown; }
  /// Whether there is such a file, folder or link.
  bool has(std::string_view name) const;
  Result<Descriptor> openFile(std::string_view name) const;
  /// As readFile().
  Result<std::string> read(std::string_view name, size_t limit) const;
  /// As MappedFile::open().
  Result<std::shared_ptr<const MappedFile>> map(std::string_view name) const;

  /// What lies in the folder `name` of this one (empty: in this one), sorted. Links are no folders.
  Result<std::vector<FolderEntry>> list(std::string_view name = {}) const;
  /// And what lies below; a folder stands before its contents.
  Result<std::vector<FolderEntry>> listAll(std::string_view name = {}) const;

  /// Removes a file, a link or an empty folder; no error when it is gone. Follows no link.
  Status remove(const FolderEntry &entry) const;
  /// Waits until the disk has the folder and all that lies in it.
  Status synchronize() const;
  /// Whether the path of open() still names this folder.
  bool isCurrent() const;

private:
  Folder(std::filesystem::path location, std::filesystem::path shown, Descriptor descriptor)
      : location(std::move(location)), shown(std::move(shown)), descriptor(std::move(descriptor)) {}
  Result<Descriptor> openInside(std::string_view name, int flags) const;
  Result<Descriptor> openLink(const std::string &name, int flags) const;
  std::filesystem::path location;
  std::filesystem::path shown;
  Descriptor descriptor;
};

/// How often readUnreplaced() reads.
inline constexpr int folderTries = 100;
/// The error of a folder that was another one each time.
TORCHERE_EXPORT tl::unexpected<Error> replacedTooOften(const std::filesystem::path &path);

/// What `read(folder)` makes of the folder at `path`. When the path names another folder by the end, the one
/// that was read may have been half removed: then all is read again, from the path on.
template <class Read>
std::invoke_result_t<Read, const Folder &> readUnreplaced(const std::filesystem::path &path, Read &&read) {
  for (int tries = 0; tries < folderTries; ++tries) {
    TORCHERE_ASSIGN(Folder folder, Folder::open(path));
    auto result = read(folder);
    if (folder.isCurrent())
      return result;
  }
  return replacedTooOften(path);
}

/// Waits until the disk has the entries of a directory; what cannot be synchronized is not.
TORCHERE_EXPORT Status synchronizeDirectory(const std::filesystem::path &path,
                                            const std::filesystem::path &shown);

} // namespace torchere
