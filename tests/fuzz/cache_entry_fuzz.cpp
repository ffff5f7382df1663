// Fuzz target of parseCacheEntry: what it accepts is, byte for byte, what would be written.
#include "fuzz_target.h"

#include "runtime/cache_entry.h"

#include <cstdlib>

using namespace torchere;

static const runtime::CacheKey key = Digest().addField("fuzz").finish();

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view file(reinterpret_cast<const char *>(data), size);
  Result<std::string_view> executable = runtime::parseCacheEntry(file, key, "fuzz");
  if (!executable)
    return executable.error().message.empty() ? std::abort(), 0 : 0;
  if (runtime::makeCacheEntry(key, *executable) != file)
    std::abort();
  return 0;
}

std::vector<std::string> fuzzSeeds() {
  const runtime::CacheKey other = Digest().addField("other").finish();
  return {runtime::makeCacheEntry(key, ""), runtime::makeCacheEntry(key, "an executable"),
          runtime::makeCacheEntry(key, std::string(300, 'x')),
          runtime::makeCacheEntry(other, "an executable")};
}
