// CompileCache: the folder, its entries, and the eviction of the least recently used ones.
#include "runtime/compile_cache.h"

#include "base/file.h"
#include "base/log.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <system_error>
#include <tuple>
#include <unistd.h>

namespace torchere::runtime {

namespace fs = std::filesystem;

static constexpr std::string_view suffix = ".executable";
static constexpr mode_t folderMode = 0700, fileMode = 0600;
static constexpr mode_t writableByOthers = S_IWGRP | S_IWOTH;
/// The age at which a temporary file counts as abandoned if its process cannot be checked, because it runs in
/// another container for example.
static constexpr int64_t abandonedAfterNanoseconds = int64_t{3600} * 1'000'000'000;
/// The fraction of the bound that one listing of the folder frees; otherwise every small entry would need a
/// listing.
static constexpr uint64_t roomDivisor = 32;

struct CompileCache::File {
  std::string name;
  uint64_t size = 0;
  int64_t usedAt = 0; ///< nanoseconds since the epoch
  std::optional<TemporaryName> temporary;
};

fs::path CompileCache::pathOf(const CacheKey &key) const {
  return directory / (hexText(key) + std::string(suffix));
}

static bool isEntryName(std::string_view name) {
  if (name.size() != 2 * sizeof(CacheKey) + suffix.size() || !name.ends_with(suffix))
    return false;
  name.remove_suffix(suffix.size());
  return name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Status CompileCache::checkFolder() const {
  struct stat status;
  if (::stat(directory.c_str(), &status) != 0)
    return systemError(directory, "cannot be examined", errno);
  if (!S_ISDIR(status.st_mode))
    return fail(ErrorCode::FailedPrecondition, "[{}] is no directory: the compile cache is not used",
                directory.string());
  if (status.st_uid != ::geteuid())
    return fail(ErrorCode::FailedPrecondition,
                "[{}] belongs to another user: got {}, expected {}; the compile cache is not used",
                directory.string(), status.st_uid, ::geteuid());
  if (status.st_mode & writableByOthers)
    return fail(ErrorCode::FailedPrecondition,
                "[{}] can be written to by other users: got mode {:04o}, expected 0700; the compile cache is "
                "not used",
                directory.string(), status.st_mode & 07777);
  return {};
}

/// An unsafe folder is worth a warning, but only one. Everything else is logged as information.
void CompileCache::report(const Error &error) {
  if (error.code == ErrorCode::FailedPrecondition && !isReported.exchange(true))
    TORCHERE_LOG_LINE(Warning, "cache", "{}", error.message);
  else
    TORCHERE_LOG_LINE(Info, "cache", "{}", error.message);
}

std::optional<CompileCache::Entry> CompileCache::load(const CacheKey &key) {
  if (Status status = checkFolder(); !status) {
    if (status.error().code != ErrorCode::NotFound)
      report(status.error());
    return std::nullopt;
  }
  fs::path path = pathOf(key);
  Result<std::string> file = readFile(path, byteLimit);
  if (!file) {
    if (file.error().code != ErrorCode::NotFound)
      TORCHERE_LOG_LINE(Info, "cache", "{}", file.error().message);
    return std::nullopt;
  }
  if (auto executable = parseCacheEntry(*file, key, path.string()); !executable) {
    TORCHERE_LOG_LINE(Warning, "cache", "removed: {}", executable.error().message);
    ::unlink(path.c_str());
    return std::nullopt;
  }
  // Marks the entry as most recently used. In a read-only folder the order stays as it is.
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return Entry{*std::move(file)};
}

Status CompileCache::store(const CacheKey &key, std::string_view executable) {
  Status status = write(key, executable);
  if (!status)
    report(status.error());
  return status;
}

Status CompileCache::makeFolder() const {
  if (::mkdir(directory.c_str(), folderMode) == 0 || errno == EEXIST)
    return {};
  if (errno == ENOENT) {
    TORCHERE_TRY(makeDirectories(directory.parent_path()));
    if (::mkdir(directory.c_str(), folderMode) == 0 || errno == EEXIST)
      return {};
  }
  return systemError(directory, "cannot be created", errno);
}

Status CompileCache::write(const CacheKey &key, std::string_view executable) {
  uint64_t size = cacheEntryHeaderSize + executable.size();
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
  TORCHERE_TRY(makeFolder());
  TORCHERE_TRY(checkFolder());
  TORCHERE_TRY(makeRoom(size));
  // Not synced to disk: an entry that a system crash cuts off does not match its digest.
  return writeFile(pathOf(key), makeCacheEntry(key, executable), fileMode);
}

void CompileCache::remove(const CacheKey &key) {
  ::unlink(pathOf(key).c_str());
}

/// Our files in the folder: entries, and temporary files of future entries.
Result<std::vector<CompileCache::File>> CompileCache::list() const {
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

Status CompileCache::makeRoom(uint64_t size) {
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
Result<std::vector<CompileCache::File>> CompileCache::listChecked() const {
  Status status = checkFolder();
  if (!status && status.error().code == ErrorCode::NotFound)
    return std::vector<File>{};
  TORCHERE_TRY(std::move(status));
  return list();
}

CompileCache::Contents CompileCache::summarize(const std::vector<File> &files) {
  Contents contents;
  for (const File &file : files) {
    contents.entryCount += !file.temporary;
    contents.byteSize += file.size;
  }
  return contents;
}

Result<CompileCache::Contents> CompileCache::contents() const {
  TORCHERE_ASSIGN(std::vector<File> files, listChecked());
  return summarize(files);
}

Result<CompileCache::Contents> CompileCache::clear() {
  TORCHERE_ASSIGN(std::vector<File> files, listChecked());
  for (const File &file : files)
    if (::unlink((directory / file.name).c_str()) != 0 && errno != ENOENT)
      return systemError(directory / file.name, "cannot be removed", errno);
  return summarize(files);
}

} // namespace torchere::runtime
