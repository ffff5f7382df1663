// ArchiveReplacement: a file that atomically replaces a saved program's, or none, once complete.
#include "artifact/archive_replacement.h"

#include "artifact/directory_contents.h"
#include "artifact/directory_names.h"
#include "artifact/program_files.h"
#include "artifact/temporary_name.h"
#include "base/file.h"
#include "base/folder.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace torchere::artifact {

namespace fs = std::filesystem;

static tl::unexpected<Error> notOverwritten(const fs::path &target, std::string_view why) {
  return fail(ErrorCode::FailedPrecondition, "[{}] is not overwritten: {}", target.string(), why);
}

/// Fails unless the file holds a program and nothing else.
static Status checkIsProgram(const fs::path &target) {
  Result<ZipFiles> files = ZipFiles::open(target);
  if (!files)
    return notOverwritten(target, files.error().message);
  Result<std::string> text = files->read(manifestName, jsonSizeLimit);
  if (!text)
    return notOverwritten(target, text.error().message);
  Result<Manifest> manifest = readManifest(*text, (target / manifestName).string());
  if (!manifest)
    return notOverwritten(target, manifest.error().message);
  std::vector<std::string> names = namedFiles(*manifest);
  TORCHERE_ASSIGN(std::vector<FolderEntry> entries, files->listAll({}));
  for (const FolderEntry &entry : entries)
    if (!entry.isFolder && entry.name != manifestName && !std::ranges::binary_search(names, entry.name))
      return notOverwritten(target,
                            fmt::format("it holds \"{}\", which is no part of a saved program", entry.name));
  return {};
}

static Status checkReplacedFile(const fs::path &target, bool overwrite) {
  std::error_code error;
  fs::file_status status = fs::symlink_status(target, error);
  if (!fs::exists(status))
    return {};
  if (fs::is_directory(status))
    return fail(ErrorCode::AlreadyExists,
                "[{}] is a directory: expected a file, or a name that does not end in {}", target.string(),
                archiveExtension);
  if (!fs::is_regular_file(status))
    return fail(ErrorCode::AlreadyExists, "[{}] is no regular file", target.string());
  if (fs::file_size(target, error) == 0)
    return {};
  if (!overwrite)
    return fail(ErrorCode::AlreadyExists, "[{}] exists: expected a new file, or overwrite=True",
                target.string());
  return checkIsProgram(target);
}

/// Removes stale files of killed saves to `target`.
static void removeAbandonedFiles(const fs::path &target) {
  std::error_code error;
  for (fs::directory_iterator it(target.parent_path(), error), end; !error && it != end;
       it.increment(error)) {
    std::optional<TemporaryName> name = parseTemporaryName(it->path().filename().string());
    if (!name || name->target != target.filename() || !it->is_regular_file(error))
      continue;
    Descriptor file(::open(it->path().c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (file.isOpen() && lock(file, it->path()) == Lock::Held)
      ::unlink(it->path().c_str());
  }
}

Result<ArchiveReplacement> ArchiveReplacement::create(const fs::path &target, bool overwrite) {
  TORCHERE_TRY(checkReplacedFile(target, overwrite));
  ArchiveReplacement replacement(target, overwrite);
  TORCHERE_TRY(replacement.parents.make());
  removeAbandonedFiles(target);
  auto make = [&](const fs::path &name) {
    replacement.descriptor = Descriptor(::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    bool isMade = replacement.descriptor.isOpen();
    return isMade ? std::optional(lock(replacement.descriptor, name)) : std::nullopt;
  };
  TORCHERE_ASSIGN(replacement.temporary, makeTemporary(target, make));
  return replacement;
}

ArchiveReplacement::ArchiveReplacement(ArchiveReplacement &&other) noexcept
    : target(std::move(other.target)), overwrite(other.overwrite),
      temporary(std::exchange(other.temporary, {})), descriptor(std::move(other.descriptor)),
      parents(std::move(other.parents)) {}

ArchiveReplacement::~ArchiveReplacement() {
  if (!temporary.empty())
    ::unlink(temporary.c_str());
}

/// What appeared in the meantime is replaced only if `overwrite` says so, where the file system can tell.
Status ArchiveReplacement::takePlace() {
  std::error_code error;
  bool mayReplace = overwrite || fs::exists(target, error); // an empty file
  TORCHERE_TRY(checkReplacedFile(target, overwrite));
  if (!mayReplace &&
      ::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) == 0)
    return {};
  if (!mayReplace && errno == EEXIST)
    TORCHERE_TRY(checkReplacedFile(target, overwrite));
  if (std::rename(temporary.c_str(), target.c_str()) != 0)
    return systemError(target, "cannot be replaced", errno);
  return {};
}

Status ArchiveReplacement::commit() {
  if (::fsync(descriptor.number()) != 0 && errno != EINVAL && errno != ENOTSUP)
    return systemError(target, "cannot be written to the disk", errno);
  TORCHERE_TRY(takePlace());
  temporary.clear();
  return parents.synchronize();
}

} // namespace torchere::artifact
