// DirectoryReplacement: a directory that atomically replaces another, or none, once complete.
#include "artifact/directory_replacement.h"

#include "artifact/directory_contents.h"
#include "artifact/directory_names.h"
#include "artifact/temporary_name.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/log.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <system_error>
#include <utility>

namespace torchere::artifact {

namespace fs = std::filesystem;

Result<fs::path> resolveTarget(const fs::path &path) {
  if (path.empty())
    return invalidArgument("[save] the path is empty");
  std::error_code error;
  fs::path target = fs::absolute(path, error).lexically_normal();
  if (!target.has_filename())
    target = target.parent_path();
  if (fs::is_symlink(target, error) || fs::exists(target, error))
    target = fs::canonical(target, error);
  if (error)
    return systemError(path, "cannot be resolved", error.value());
  if (!target.has_filename())
    return invalidArgument("[{}] is the root directory, expected a directory below it", path.string());
  return target;
}

static Status checkContents(const Folder &folder, bool overwrite) {
  TORCHERE_ASSIGN(std::vector<FolderEntry> entries, folder.list());
  if (entries.empty())
    return {};
  if (!overwrite)
    return fail(ErrorCode::AlreadyExists, "[{}] is not empty: expected an empty directory, or overwrite=True",
                folder.path().string());
  Result<DirectoryContents> contents = examineContents(folder);
  if (!contents)
    return fail(ErrorCode::FailedPrecondition, "[{}] is not overwritten: {}", folder.path().string(),
                contents.error().message);
  if (!contents->foreign.empty())
    return fail(ErrorCode::FailedPrecondition,
                "[{}] is not overwritten: it holds \"{}\", which is no part of a saved program",
                folder.path().string(), contents->foreign.front().name);
  return {};
}

static Status checkReplacedDirectory(const fs::path &target, bool overwrite) {
  std::error_code error;
  fs::file_status status = fs::symlink_status(target, error);
  if (!fs::exists(status))
    return {};
  if (!fs::is_directory(status))
    return fail(ErrorCode::AlreadyExists, "[{}] is no directory", target.string());
  return readUnreplaced(target, [&](const Folder &folder) { return checkContents(folder, overwrite); });
}

/// Permissions may forbid it as well.
static Lock lockDirectory(const fs::path &path, Descriptor &descriptor) {
  descriptor = Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!descriptor.isOpen())
    return errno == ENOENT ? Lock::Gone : Lock::NotOffered;
  return lock(descriptor, path);
}

static tl::unexpected<Error> holdsForeign(const fs::path &path, const FolderEntry &entry) {
  return fail(ErrorCode::FailedPrecondition, "[{}] holds \"{}\", which is no part of a saved program",
              path.string(), entry.name);
}

/// Removes an unfinished SavedModel, which has no index, unless it contains a foreign file.
static Status removeSavedModel(const Folder &folder, const fs::path &path) {
  DirectoryContents contents;
  TORCHERE_ASSIGN(std::vector<FolderEntry> entries, folder.listAll());
  for (FolderEntry &entry : entries)
    if (std::ranges::find(savedModelNames, entry.name) == savedModelNames.end())
      return holdsForeign(path, entry);
  contents.own.assign(entries.rbegin(), entries.rend()); // what a folder holds before it
  return removeProgram(folder, contents, path);
}

/// Removes a program with a temporary name, unless it contains a foreign file.
static Status removeTemporary(const fs::path &path) {
  TORCHERE_ASSIGN(Folder folder, Folder::open(path));
  if (folder.has(savedModelVariables))
    return removeSavedModel(folder, path);
  TORCHERE_ASSIGN(DirectoryContents contents, examineContents(folder));
  for (FolderEntry &entry : contents.foreign) {
    std::optional<TemporaryName> unfinished = parseTemporaryName(entry.name);
    if (!entry.isFolder && !(unfinished && unfinished->target == manifestName))
      return holdsForeign(path, entry);
    contents.own.push_back(std::move(entry)); // a folder stays if it is not empty
  }
  return removeProgram(folder, contents, path);
}

/// Removes stale directories of killed saves to `target`.
static void removeAbandonedDirectories(const fs::path &target) {
  std::error_code error;
  for (fs::directory_iterator it(target.parent_path(), error), end; !error && it != end;
       it.increment(error)) {
    std::optional<TemporaryName> name = parseTemporaryName(it->path().filename().string());
    Descriptor lock;
    if (!name || name->target != target.filename() || lockDirectory(it->path(), lock) != Lock::Held)
      continue;
    if (Status status = removeTemporary(it->path()); !status)
      TORCHERE_LOG_LINE(Info, "save", "left as it is: {}", status.error().message);
  }
}

Result<DirectoryReplacement> DirectoryReplacement::create(const fs::path &target, bool overwrite) {
  TORCHERE_TRY(checkReplacedDirectory(target, overwrite));
  DirectoryReplacement replacement(target, overwrite);
  TORCHERE_TRY(replacement.parents.make());
  std::error_code error;
  // Without atomic exchange there are moments when `target` is missing: the leftover may then be the only
  // copy.
  if (fs::exists(target, error))
    removeAbandonedDirectories(target);
  auto make = [&](const fs::path &name) {
    bool isMade = ::mkdir(name.c_str(), 0777) == 0;
    return isMade ? std::optional(lockDirectory(name, replacement.lock)) : std::nullopt;
  };
  TORCHERE_ASSIGN(replacement.temporary, makeTemporary(target, make));
  return replacement;
}

DirectoryReplacement::DirectoryReplacement(DirectoryReplacement &&other) noexcept
    : place(std::move(other.place)), overwrite(other.overwrite),
      temporary(std::exchange(other.temporary, {})), lock(std::move(other.lock)),
      parents(std::move(other.parents)), holdsOld(other.holdsOld) {}

DirectoryReplacement::~DirectoryReplacement() {
  std::error_code ignored;
  if (!temporary.empty() && !holdsOld)
    fs::remove_all(temporary, ignored);
}

/// Exchanges two names atomically; where that is not supported, by three renames.
Status DirectoryReplacement::exchange() {
  if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, place.c_str(), RENAME_EXCHANGE) == 0)
    return {};
  if (errno != ENOSYS && errno != EINVAL)
    return systemError(place, "cannot be replaced", errno);
  fs::path old = temporarySibling(place);
  if (std::rename(place.c_str(), old.c_str()) != 0)
    return systemError(place, "cannot be replaced", errno);
  if (std::rename(temporary.c_str(), place.c_str()) != 0) {
    int number = errno;
    std::rename(old.c_str(), place.c_str());
    return systemError(place, "cannot be replaced", number);
  }
  std::rename(old.c_str(), temporary.c_str());
  return {};
}

Status DirectoryReplacement::takePlace() {
  for (int attempt = 0; attempt < replacementAttempts; ++attempt) {
    // A directory can be renamed over an empty one, but not over a non-empty one.
    if (std::rename(temporary.c_str(), place.c_str()) == 0) {
      temporary.clear();
      return {};
    }
    if (errno != ENOTEMPTY && errno != EEXIST)
      return systemError(place, "cannot be replaced", errno);
    TORCHERE_TRY(checkReplacedDirectory(place, overwrite)); // again: it may have been filled since
    Descriptor old; // locked, so that no other save removes it before the new one is on disk
    lockDirectory(place, old);
    Status status = exchange();
    if (!status && status.error().code == ErrorCode::NotFound) // it has been removed since
      continue;
    TORCHERE_TRY(std::move(status));
    holdsOld = true;
    lock = std::move(old);
    return {};
  }
  return replacedTooOften(place);
}

Status DirectoryReplacement::commit() {
  {
    TORCHERE_ASSIGN(Folder folder, Folder::open(temporary, place));
    TORCHERE_TRY(folder.synchronize());
  }
  TORCHERE_TRY(takePlace());
  TORCHERE_TRY(parents.synchronize());
  if (holdsOld)
    // The new directory is in place, whether or not the old one can be removed.
    if (Status status = removeTemporary(temporary); !status)
      TORCHERE_LOG_LINE(Warning, "save", "the old program is left: {}", status.error().message);
  removeAbandonedDirectories(place);
  return {};
}

} // namespace torchere::artifact
