// CacheFolder: the folder, its files, and the eviction of the least recently used ones.
#include "base/cache_folder.h"

#include "base/log.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <limits>
#include <sys/resource.h>
#include <sys/stat.h>
#include <system_error>
#include <tuple>
#include <unistd.h>

namespace torchere {

namespace fs = std::filesystem;

static constexpr mode_t folderMode = 0700, fileMode = 0600;
static constexpr mode_t writableByOthers = S_IWGRP | S_IWOTH;
/// The age at which a temporary file counts as abandoned if its process cannot be checked, because it runs in
/// another container for example.
static constexpr int64_t abandonedAfterNanoseconds = int64_t{3600} * 1'000'000'000;
/// The fraction of the bound that one listing of the folder frees; otherwise every small entry would need a
/// listing.
static constexpr uint64_t roomDivisor = 32;

struct CacheFolder::File {
  std::string name;
  uint64_t size = 0;
  int64_t usedAt = 0; ///< nanoseconds since the epoch
  std::optional<TemporaryName> temporary;
};

std::optional<uint64_t> parseByteSize(std::string_view text) {
  uint64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc())
    return std::nullopt;
  std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  if (unit.empty())
    return number;
  static constexpr std::string_view prefixes = "KMG";
  size_t power = prefixes.find(unit.front());
  std::string_view rest = unit.substr(1);
  if (power == std::string_view::npos || !(rest.empty() || rest == "B" || rest == "iB"))
    return std::nullopt;
  size_t shift = 10 * (power + 1);
  if (number > std::numeric_limits<uint64_t>::max() >> shift)
    return std::nullopt;
  return number << shift;
}

fs::path CacheFolder::pathOf(const Digest::Value &key) const {
  return directory / (hexText(key) + std::string(kind.suffix));
}

bool CacheFolder::isEntryName(std::string_view name) const {
  if (name.size() != 2 * sizeof(Digest::Value) + kind.suffix.size() || !name.ends_with(kind.suffix))
    return false;
  name.remove_suffix(kind.suffix.size());
  return name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Status CacheFolder::check() const {
  struct stat status;
  if (::stat(directory.c_str(), &status) != 0)
    return systemError(directory, "cannot be examined", errno);
  if (!S_ISDIR(status.st_mode))
    return fail(ErrorCode::FailedPrecondition, "[{}] is no directory: {} is not used", directory.string(),
                kind.name);
  if (status.st_uid != ::geteuid())
    return fail(ErrorCode::FailedPrecondition,
                "[{}] belongs to another user: got {}, expected {}; {} is not used", directory.string(),
                status.st_uid, ::geteuid(), kind.name);
  if (status.st_mode & writableByOthers)
    return fail(ErrorCode::FailedPrecondition,
                "[{}] can be written to by other users: got mode {:04o}, expected 0700; {} is not used",
                directory.string(), status.st_mode & 07777, kind.name);
  return {};
}

void CacheFolder::report(const Error &error) {
  if (error.code == ErrorCode::FailedPrecondition && !isReported.exchange(true))
    TORCHERE_LOG_LINE(Warning, "cache", "{}", error.message);
  else
    TORCHERE_LOG_LINE(Info, "cache", "{}", error.message);
}

Status CacheFolder::make() const {
  if (::mkdir(directory.c_str(), folderMode) == 0 || errno == EEXIST)
    return {};
  if (errno == ENOENT) {
    TORCHERE_TRY(makeDirectories(directory.parent_path()));
    if (::mkdir(directory.c_str(), folderMode) == 0 || errno == EEXIST)
      return {};
  }
  return systemError(directory, "cannot be created", errno);
}

Result<FileReplacement> CacheFolder::create(const Digest::Value &key, uint64_t size) {
  if (size > byteLimit)
    return fail(ErrorCode::ResourceExhausted,
                "[{}] an entry larger than the bound: got {} bytes, expected at most {}", directory.string(),
                size, byteLimit);
  struct rlimit allowed; // writing more would end the process with a signal
  if (::getrlimit(RLIMIT_FSIZE, &allowed) == 0 && allowed.rlim_cur != RLIM_INFINITY &&
      size > allowed.rlim_cur)
    return fail(ErrorCode::ResourceExhausted,
                "[{}] an entry larger than what the process may write: got {} bytes, expected at most {}",
                directory.string(), size, static_cast<uint64_t>(allowed.rlim_cur));
  TORCHERE_TRY(make());
  TORCHERE_TRY(check());
  TORCHERE_TRY(makeRoom(size));
  return FileReplacement::create(pathOf(key), {.mode = fileMode});
}

void CacheFolder::touch(const fs::path &path) {
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
}

void CacheFolder::remove(const Digest::Value &key) const {
  ::unlink(pathOf(key).c_str());
}

/// Our files in the folder: entries, and temporary files of future entries.
Result<std::vector<CacheFolder::File>> CacheFolder::list() const {
  std::vector<File> files;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    File file{it->path().filename().string(), 0, 0, std::nullopt};
    if (!isEntryName(file.name)) {
      file.temporary = parseTemporaryName(file.name);
      if (!file.temporary || !isEntryName(file.temporary->target))
        continue;
    }
    struct stat status;
    if (::lstat(it->path().c_str(), &status) != 0 || !S_ISREG(status.st_mode))
      continue; // gone by now, or not ours
    file.size = static_cast<uint64_t>(status.st_size);
    file.usedAt = int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
    files.push_back(std::move(file));
  }
  if (error)
    return systemError(directory, "cannot be listed", error.value());
  return files;
}

/// Whether a temporary file was left behind by a process that has ended.
static bool isAbandoned(const TemporaryName &temporary, int64_t usedAt, int64_t now) {
  bool isGone = ::kill(temporary.process, 0) != 0 && errno == ESRCH;
  return isGone || now - usedAt > abandonedAfterNanoseconds;
}

Status CacheFolder::makeRoom(uint64_t size) {
  std::lock_guard lock(mutex);
  if (freeBytes >= size) {
    freeBytes -= size;
    return {};
  }
  TORCHERE_ASSIGN(std::vector<File> files, list());
  struct timespec time;
  ::clock_gettime(CLOCK_REALTIME, &time);
  int64_t now = int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  std::sort(files.begin(), files.end(), [](const File &a, const File &b) {
    return std::tie(a.usedAt, a.name) < std::tie(b.usedAt, b.name);
  });
  uint64_t total = 0;
  for (const File &file : files)
    total += file.size;
  uint64_t room = std::max(size, byteLimit / roomDivisor);
  for (const File &file : files) {
    bool isOld = file.temporary ? isAbandoned(*file.temporary, file.usedAt, now) : total + room > byteLimit;
    if (!isOld)
      continue;
    if (::unlink((directory / file.name).c_str()) != 0 && errno != ENOENT)
      return systemError(directory / file.name, "cannot be removed", errno);
    TORCHERE_LOG_LINE(Info, "cache", "removed {} ({} bytes)", file.name, file.size);
    total -= file.size;
  }
  freeBytes = room - size;
  return {};
}

/// Our files in the folder; none if it does not exist.
Result<std::vector<CacheFolder::File>> CacheFolder::listChecked() const {
  Status status = check();
  if (!status && status.error().code == ErrorCode::NotFound)
    return std::vector<File>{};
  TORCHERE_TRY(std::move(status));
  return list();
}

CacheFolder::Contents CacheFolder::summarize(const std::vector<File> &files) {
  Contents contents;
  for (const File &file : files) {
    contents.entryCount += !file.temporary;
    contents.byteSize += file.size;
  }
  return contents;
}

Result<CacheFolder::Contents> CacheFolder::contents() const {
  TORCHERE_ASSIGN(std::vector<File> files, listChecked());
  return summarize(files);
}

Result<CacheFolder::Contents> CacheFolder::clear() {
  TORCHERE_ASSIGN(std::vector<File> files, listChecked());
  for (const File &file : files)
    if (::unlink((directory / file.name).c_str()) != 0 && errno != ENOENT)
      return systemError(directory / file.name, "cannot be removed", errno);
  return summarize(files);
}

} // namespace torchere
