// What is saved under a temporary name beside its target, and the lock that tells that it is not stale.
#include "artifact/temporary_name.h"

#include "base/file.h"

#include <cerrno>
#include <sys/file.h>
#include <sys/stat.h>

namespace torchere::artifact {

namespace fs = std::filesystem;

Lock lock(const Descriptor &open, const fs::path &path) {
  if (::flock(open.number(), LOCK_EX | LOCK_NB) != 0)
    return errno == EWOULDBLOCK ? Lock::HeldByOther : Lock::NotOffered;
  struct stat held, named;
  bool isSame = ::fstat(open.number(), &held) == 0 && ::lstat(path.c_str(), &named) == 0 &&
                held.st_dev == named.st_dev && held.st_ino == named.st_ino;
  return isSame ? Lock::Held : Lock::Gone;
}

Result<fs::path> makeTemporary(const fs::path &target, const MakeTemporary &make) {
  for (int attempt = 0; attempt < replacementAttempts; ++attempt) {
    fs::path name = temporarySibling(target);
    std::optional<Lock> state = make(name);
    if (!state && errno != EEXIST)
      return systemError(target, "cannot be created", errno);
    // Taken: left by a process with the same PID. Held by another, or gone: another save considered it stale.
    if (state == Lock::Held || state == Lock::NotOffered)
      return name;
  }
  return fail(ErrorCode::Unavailable, "[{}] cannot be created: {} temporary names beside it are taken",
              target.string(), replacementAttempts);
}

} // namespace torchere::artifact
