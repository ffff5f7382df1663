// Fuzz target of readZipIndex: the entries that it accepts lie within the file, one after the other, and have
// names of their own that lead nowhere else.
#include "fuzz_target.h"

#include "artifact/zip_index.h"
#include "artifact/zip_writer.h"
#include "base/folder.h"

#include <algorithm>
#include <cstdlib>
#include <sys/mman.h>

using namespace torchere;

static void require(bool holds) {
  if (!holds)
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto entries = artifact::readZipIndex(std::as_bytes(std::span(data, size)), "fuzz");
  if (!entries) {
    require(!entries.error().message.empty());
    return 0;
  }
  for (size_t index = 0; index < entries->size(); ++index) {
    const artifact::ZipEntry &entry = (*entries)[index];
    require(entry.offset <= size && entry.size <= size - entry.offset);
    require(checkRelativeName(entry.name, "fuzz").has_value());
    require(index == 0 || (*entries)[index - 1].name < entry.name);
  }
  std::ranges::sort(*entries, {}, &artifact::ZipEntry::offset);
  for (size_t index = 1; index < entries->size(); ++index)
    require((*entries)[index - 1].offset + (*entries)[index - 1].size <= (*entries)[index].offset);
  return 0;
}

/// A zip file with entries of these names.
static std::string zipOf(const std::vector<std::string> &names) {
  Descriptor file(::memfd_create("zip", MFD_CLOEXEC));
  artifact::ZipWriter zip(file, "zip");
  for (const std::string &name : names)
    require(zip.add(name, name.size(),
                    [&](const WriteBytes &write) { return write(std::as_bytes(std::span(name))); })
                .has_value());
  require(zip.finish().has_value());
  auto size = static_cast<size_t>(::lseek(file.number(), 0, SEEK_END));
  std::string bytes(size, '\0');
  require(::pread(file.number(), bytes.data(), size, 0) == static_cast<ssize_t>(size));
  return bytes;
}

std::vector<std::string> fuzzSeeds() {
  std::vector<std::string> seeds = {zipOf({}), zipOf({"a"}), zipOf({"manifest.json", "data/w", "data/x/y"})};
  // A ZIP64 end in front of the end record.
  std::string wide = seeds[1].substr(0, seeds[1].size() - 22);
  std::string end = seeds[1].substr(wide.size());
  std::string end64 =
      std::string("PK\x06\x06", 4) + std::string("\x2c\0\0\0\0\0\0\0", 8) + std::string(12, '\0');
  for (int twice = 0; twice < 2; ++twice)
    end64 += std::string("\1\0\0\0\0\0\0\0", 8);
  end64 += end.substr(12, 4) + std::string(4, '\0') + end.substr(16, 4) + std::string(4, '\0');
  std::string place(8, '\0');
  for (size_t byte = 0; byte < 8; ++byte)
    place[byte] = static_cast<char>(wide.size() >> (8 * byte));
  std::string locator =
      std::string("PK\x06\x07", 4) + std::string(4, '\0') + place + std::string("\1\0\0\0", 4);
  seeds.push_back(wide + end64 + locator + end);
  for (const std::string &seed : seeds)
    require(artifact::readZipIndex(std::as_bytes(std::span(seed)), "seed").has_value());
  return seeds;
}
