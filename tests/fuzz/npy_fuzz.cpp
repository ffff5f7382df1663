// Fuzz target of parseNpyHeader: whatever it accepts lies within the file.
#include "fuzz_target.h"

#include "base/npy.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  torchere::Result<torchere::NpyHeader> header =
      torchere::parseNpyHeader(std::as_bytes(std::span(data, size)), "fuzz");
  if (!header)
    return header.error().message.empty() ? std::abort(), 0 : 0;
  if (header->dataOffset + header->dataSize() != size)
    std::abort();
  torchere::denseStrides(header->shape, header->fortranOrder);
  torchere::Result<torchere::DType> dtype = torchere::dtypeFromDescr(header->descr, {}, "fuzz");
  if (dtype && torchere::byteSize(*dtype) != header->itemSize)
    std::abort();
  return 0;
}

std::vector<std::string> fuzzSeeds() {
  std::vector<int64_t> matrix = {2, 3}, vector = {4}, empty = {0, 5};
  return {torchere::makeNpyHeader(torchere::DType::F32, matrix) + std::string(24, 'x'),
          torchere::makeNpyHeader(torchere::DType::BF16, vector) + std::string(8, 'x'),
          torchere::makeNpyHeader(torchere::DType::C128, empty),
          torchere::makeNpyHeader(torchere::DType::I64, {}) + std::string(8, 'x')};
}
