// Fuzz target of parsePackedHeader: what it accepts is, byte for byte, what would be written.
#include "fuzz_target.h"

#include "cpu/plugin/packed_file.h"

#include <cstdlib>
#include <cstring>

using namespace torchere;

static const Digest::Value key = Digest().addField("fuzz").finish();
static const cpu::SectionLayout layout(std::vector<int64_t>{100, 64});

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto file = std::as_bytes(std::span(data, size));
  Result<cpu::PackedHeader> header = cpu::parsePackedHeader(file, key, layout.fileSize, "fuzz");
  if (!header)
    return header.error().message.empty() ? std::abort(), 0 : 0;
  std::string written = cpu::makePackedHeader(*header, layout.fileSize);
  if (header->key != key || size != layout.fileSize || std::memcmp(data, written.data(), written.size()) != 0)
    std::abort();
  return 0;
}

std::vector<std::string> fuzzSeeds() {
  const Digest::Value other = Digest().addField("other").finish();
  std::string sections(layout.fileSize - cpu::packedHeaderSize, 'x');
  return {cpu::makePackedHeader({key, other, other, other}, layout.fileSize) + sections,
          cpu::makePackedHeader({key, {}, {}, {}}, layout.fileSize) + sections,
          cpu::makePackedHeader({key, {}, {}, {}}, cpu::packedHeaderSize),
          cpu::makePackedHeader({other, {}, {}, {}}, layout.fileSize) + sections};
}
