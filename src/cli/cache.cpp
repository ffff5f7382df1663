// torchere cache: shows and clears the compile cache.
#include "cli/subcommand.h"
#include "runtime/compile_cache.h"

namespace torchere::cli {

using runtime::CompileCache;

static std::string entriesText(uint64_t count) {
  return fmt::format("{} {}", count, count == 1 ? "entry" : "entries");
}

static Status show(Report &report) {
  std::shared_ptr<CompileCache> cache = CompileCache::fromEnvironment();
  report.json["enabled"] = cache != nullptr;
  if (!cache) {
    report.line("off: TORCHERE_CACHE is 0, or there is no folder for it");
    return {};
  }
  TORCHERE_ASSIGN(CompileCache::Contents contents, cache->contents());
  report.json["folder"] = cache->folder().string();
  report.json["entries"] = contents.entryCount;
  report.json["bytes"] = contents.byteSize;
  report.json["limit"] = cache->limit();
  report.line("{}", cache->folder().string());
  report.line("{}, {} of {}", entriesText(contents.entryCount), byteSizeText(contents.byteSize),
              byteSizeText(cache->limit()));
  return {};
}

static Status clear(Report &report) {
  std::shared_ptr<CompileCache> cache = CompileCache::fromEnvironment();
  CompileCache::Contents removed;
  if (cache) {
    TORCHERE_ASSIGN(removed, cache->clear());
    report.json["folder"] = cache->folder().string();
  }
  report.json["removed"] = {{"entries", removed.entryCount}, {"bytes", removed.byteSize}};
  report.line("removed {}, {}", entriesText(removed.entryCount), byteSizeText(removed.byteSize));
  return {};
}

void addCache(CLI::App &app, Action &action) {
  CLI::App *command = app.add_subcommand("cache", "Show or clear the executables cached on disk");
  CLI::App *clearing = command->add_subcommand("clear", "Remove all executables from the disk");
  clearing->fallthrough(); // accepts --json after it
  command->callback([&action, clearing] { action = clearing->parsed() ? clear : show; });
}

} // namespace torchere::cli
