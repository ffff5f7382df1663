// What is saved under a temporary name beside its target, and the lock that tells that it is not stale.
#pragma once

#include "base/descriptor.h"
#include "base/error.h"

#include <filesystem>
#include <functional>
#include <optional>

namespace torchere::artifact {

enum class Lock {
  Held,
  HeldByOther, ///< by a live process
  Gone,        ///< the path names something else, or nothing: removed or exchanged before the lock was taken
  NotOffered,  ///< not every network file system supports locks
};

/// Locks an open file or directory, which `path` is to name.
Lock lock(const Descriptor &open, const std::filesystem::path &path);

/// Makes something of a name and locks it; none if it could not, with errno set.
using MakeTemporary = std::function<std::optional<Lock>(const std::filesystem::path &)>;

/// Tries temporary names beside `target` until one is neither taken nor considered stale by others.
Result<std::filesystem::path> makeTemporary(const std::filesystem::path &target, const MakeTemporary &make);

/// How many names to try, and how often to retry if another process puts a directory in the way.
inline constexpr int replacementAttempts = 100;

} // namespace torchere::artifact
