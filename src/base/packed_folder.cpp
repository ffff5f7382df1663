// Implements PackedFolder.
#include "base/packed_folder.h"

#include "base/log.h"

#include <cstdlib>

namespace torchere {

static constexpr const char *packedFolderVariable = "TORCHERE_CPU_PACKED_CACHE";
static constexpr const char *packedLimitVariable = "TORCHERE_CPU_PACKED_CACHE_SIZE";

PackedFolder PackedFolder::fromEnvironment() {
  auto variable = [](const char *name) -> std::string_view {
    const char *value = std::getenv(name);
    return value ? value : "";
  };
  PackedFolder folder;
  folder.path = variable(packedFolderVariable);
  if (!folder.path.empty() && !folder.path.is_absolute()) { // a process may change its working directory
    TORCHERE_LOG_LINE(Warning, packedFolderVariable, "is no absolute path: got \"{}\"", folder.path.string());
    folder.path.clear();
  }
  std::string_view text = variable(packedLimitVariable);
  std::optional<uint64_t> size = parseByteSize(text);
  if (!text.empty() && !size)
    TORCHERE_LOG_LINE(Warning, packedLimitVariable,
                      "is no bound: got \"{}\", expected a size such as 500M or 2G", text);
  folder.limit = size.value_or(defaultPackedLimit);
  return folder;
}

} // namespace torchere
