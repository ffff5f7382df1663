// Putting a finished directory in the place of another, or of none.
#include "artifact/directory_replacement.h"

#include "base/file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <string_view>
#include <system_error>

namespace torchere::artifact {

namespace fs = std::filesystem;

static constexpr std::array<std::string_view, 4> ownEntries = {"constants", "data", "functions",
                                                               "manifest.json"};

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

Status checkTarget(const fs::path &target, bool overwrite) {
  std::error_code error;
  fs::file_status status = fs::symlink_status(target, error);
  if (!fs::exists(status))
    return {};
  if (!fs::is_directory(status))
    return fail(ErrorCode::AlreadyExists, "[{}] is no directory", target.string());
  fs::directory_iterator entries(target, error);
  if (error)
    return systemError(target, "cannot be listed", error.value());
  for (const fs::directory_entry &entry : entries) {
    std::string name = entry.path().filename().string();
    if (!overwrite)
      return fail(ErrorCode::AlreadyExists,
                  "[{}] is not empty: expected an empty directory, or overwrite=True", target.string());
    if (std::find(ownEntries.begin(), ownEntries.end(), name) == ownEntries.end())
      return fail(ErrorCode::FailedPrecondition,
                  "[{}] is not overwritten: it holds \"{}\", which is no part of a saved program",
                  target.string(), name);
  }
  return {};
}

/// Exchanges two names at once; where that is not offered, by three renames.
static Status exchange(const fs::path &finished, const fs::path &target) {
  if (::renameat2(AT_FDCWD, finished.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0)
    return {};
  if (errno != ENOSYS && errno != EINVAL)
    return systemError(target, "cannot be replaced", errno);
  fs::path old = temporarySibling(target);
  if (std::rename(target.c_str(), old.c_str()) != 0)
    return systemError(target, "cannot be replaced", errno);
  if (std::rename(finished.c_str(), target.c_str()) != 0) {
    int number = errno;
    std::rename(old.c_str(), target.c_str());
    return systemError(target, "cannot be replaced", number);
  }
  std::rename(old.c_str(), finished.c_str());
  return {};
}

Status replaceDirectory(const fs::path &finished, const fs::path &target, bool overwrite) {
  // A directory takes the name of an empty one; of a full one it does not.
  if (std::rename(finished.c_str(), target.c_str()) == 0)
    return {};
  if (errno != ENOTEMPTY && errno != EEXIST)
    return systemError(target, "cannot be replaced", errno);
  TORCHERE_TRY(checkTarget(target, overwrite)); // again: it may have been filled since
  TORCHERE_TRY(exchange(finished, target));
  std::error_code ignored; // the new directory is in place whether or not the old one can be removed
  fs::remove_all(finished, ignored);
  return {};
}

} // namespace torchere::artifact
