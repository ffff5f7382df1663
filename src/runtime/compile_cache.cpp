// CompileCache: entries of a folder that hold executables.
#include "runtime/compile_cache.h"

#include "base/log.h"

#include <unistd.h>

namespace torchere::runtime {

namespace fs = std::filesystem;

CompileCache::CompileCache(fs::path folder, uint64_t limit)
    : files({".executable", "the compile cache"}, std::move(folder), limit) {}

std::optional<CompileCache::Entry> CompileCache::load(const CacheKey &key) {
  if (Status status = files.check(); !status) {
    if (status.error().code != ErrorCode::NotFound)
      files.report(status.error());
    return std::nullopt;
  }
  fs::path path = files.pathOf(key);
  Result<std::string> file = readFile(path, limit());
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
  CacheFolder::touch(path);
  return Entry{*std::move(file)};
}

Status CompileCache::store(const CacheKey &key, std::string_view executable) {
  Status status = write(key, executable);
  if (!status)
    files.report(status.error());
  return status;
}

Status CompileCache::write(const CacheKey &key, std::string_view executable) {
  std::string entry = makeCacheEntry(key, executable);
  TORCHERE_ASSIGN(FileReplacement file, files.create(key, entry.size()));
  TORCHERE_TRY(file.writer().write(entry));
  return file.commit();
}

} // namespace torchere::runtime
