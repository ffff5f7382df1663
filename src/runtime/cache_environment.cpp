// CompileCache::fromEnvironment(): the variables that set the cache's location and size.
#include "base/log.h"
#include "runtime/compile_cache.h"
#include "runtime/environment.h"

namespace torchere::runtime {

namespace fs = std::filesystem;

static constexpr const char *boundVariable = "TORCHERE_CACHE";
static constexpr const char *folderVariable = "TORCHERE_CACHE_DIR";

/// 0 disables the cache.
static uint64_t askedLimit() {
  std::string_view text = environment(boundVariable);
  if (text.empty() || text == "1" || text == "on")
    return CompileCache::defaultLimit;
  if (text == "off")
    return 0;
  if (std::optional<uint64_t> size = parseByteSize(text))
    return *size;
  TORCHERE_LOG_LINE(Warning, boundVariable,
                    "is no bound: got \"{}\", expected 0, 1, or a size such as 500M or 2G", text);
  return CompileCache::defaultLimit;
}

/// Empty if there is none. The folder has to be absolute, because a process may change its working directory.
static fs::path askedFolder() {
  if (fs::path folder = environment(folderVariable); !folder.empty()) {
    if (folder.is_absolute())
      return folder;
    TORCHERE_LOG_LINE(Warning, folderVariable, "is no absolute path: got \"{}\"", folder.string());
  }
  if (fs::path cache = environment("XDG_CACHE_HOME"); cache.is_absolute())
    return cache / "torchere";
  if (fs::path home = environment("HOME"); home.is_absolute())
    return home / ".cache" / "torchere";
  return {};
}

std::shared_ptr<CompileCache> CompileCache::fromEnvironment() {
  return choose({});
}

std::shared_ptr<CompileCache> CompileCache::choose(const CacheChoice &choice) {
  if (choice.use == CacheChoice::Use::Off)
    return nullptr;
  uint64_t limit = choice.limit ? choice.limit : askedLimit();
  if (limit == 0 && choice.use == CacheChoice::Use::Environment)
    return nullptr;
  if (limit == 0)
    limit = defaultLimit;
  fs::path folder = choice.folder.empty() ? askedFolder() : choice.folder;
  if (folder.empty()) {
    TORCHERE_LOG_LINE(Info, "cache", "no folder for it: neither {}, XDG_CACHE_HOME nor HOME is set",
                      folderVariable);
    return nullptr;
  }
  return std::make_shared<CompileCache>(std::move(folder), limit);
}

} // namespace torchere::runtime
