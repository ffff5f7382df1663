// Folder: an open directory, so that all reads see the same directory even if it is renamed meanwhile; and
// the names that cannot escape it.
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

/// A folder whose files are opened by names that checkRelativeName() allows. A symlink in it must not lead
/// out of it. The path is resolved once, by open().
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

  /// The entries of the subfolder `name` (empty: of this folder), sorted. Symlinks do not count as folders.
  Result<std::vector<FolderEntry>> list(std::string_view name = {}) const;
  /// The same, recursively; a folder precedes its contents.
  Result<std::vector<FolderEntry>> listAll(std::string_view name = {}) const;

  /// Removes a file, a link or an empty folder; no error when it is gone. Follows no link.
  Status remove(const FolderEntry &entry) const;
  /// Syncs the folder and everything in it to disk.
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
/// The error for a folder that was replaced during every attempt.
TORCHERE_EXPORT tl::unexpected<Error> replacedTooOften(const std::filesystem::path &path);

/// The result of `read(folder)` for the folder at `path`. If the path names another folder by the end, the
/// one read may have been partially removed: then it is read again, from the path on.
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

/// Syncs a directory's entries to disk, where the file system supports it.
TORCHERE_EXPORT Status synchronizeDirectory(const std::filesystem::path &path,
                                            const std::filesystem::path &shown);

} // namespace torchere
