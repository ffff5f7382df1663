// torchere cache: shows and clears the compile cache, and packed weights on disk.
#include "base/packed_folder.h"
#include "cli/subcommand.h"
#include "runtime/compile_cache.h"

namespace torchere::cli {

using runtime::CompileCache;

static std::string entriesText(uint64_t count) {
  return fmt::format("{} {}", count, count == 1 ? "entry" : "entries");
}

/// Of a CompileCache or a CacheFolder.
template <class Folder> static Status describe(Report &report, OrderedJson &json, const Folder &folder) {
  TORCHERE_ASSIGN(CacheFolder::Contents contents, folder.contents());
  json["folder"] = folder.folder().string();
  json["entries"] = contents.entryCount;
  json["bytes"] = contents.byteSize;
  json["limit"] = folder.limit();
  report.line("{}", folder.folder().string());
  report.line("{}, {} of {}", entriesText(contents.entryCount), byteSizeText(contents.byteSize),
              byteSizeText(folder.limit()));
  return {};
}

static OrderedJson removedJson(const CacheFolder::Contents &removed) {
  return {{"entries", removed.entryCount}, {"bytes", removed.byteSize}};
}

static Status showPacked(Report &report) {
  auto [path, limit] = PackedFolder::fromEnvironment();
  if (path.empty())
    return {};
  CacheFolder folder(packedFolderKind, path, limit);
  report.line("packed weights:");
  return describe(report, report.json["packed_weights"], folder);
}

static Status show(Report &report) {
  std::shared_ptr<CompileCache> cache = CompileCache::fromEnvironment();
  report.json["enabled"] = cache != nullptr;
  if (!cache) {
    report.line("off: TORCHERE_CACHE is 0, or there is no folder for it");
  } else {
    TORCHERE_TRY(describe(report, report.json, *cache));
  }
  return showPacked(report);
}

static Status clearPacked(Report &report) {
  auto [path, limit] = PackedFolder::fromEnvironment();
  if (path.empty())
    return {};
  CacheFolder folder(packedFolderKind, path, limit);
  TORCHERE_ASSIGN(CacheFolder::Contents removed, folder.clear());
  report.json["packed_weights"] = {{"folder", path.string()}, {"removed", removedJson(removed)}};
  report.line("packed weights: removed {}, {}", entriesText(removed.entryCount),
              byteSizeText(removed.byteSize));
  return {};
}

static Status clear(Report &report) {
  std::shared_ptr<CompileCache> cache = CompileCache::fromEnvironment();
  CompileCache::Contents removed;
  if (cache) {
    TORCHERE_ASSIGN(removed, cache->clear());
    report.json["folder"] = cache->folder().string();
  }
  report.json["removed"] = removedJson(removed);
  report.line("removed {}, {}", entriesText(removed.entryCount), byteSizeText(removed.byteSize));
  return clearPacked(report);
}

void addCache(CLI::App &app, Action &action) {
  CLI::App *command =
      app.add_subcommand("cache", "Show or clear the executables and packed weights cached on disk");
  CLI::App *clearing =
      command->add_subcommand("clear", "Remove all executables and packed weights from the disk");
  clearing->fallthrough(); // accepts --json after it
  command->callback([&action, clearing] { action = clearing->parsed() ? clear : show; });
}

} // namespace torchere::cli
