// The entries of a checkpoint: where a tensor lies in the data, and its checksum.
#include "artifact/saved_model/tensor_bundle.h"

#include "artifact/saved_model/checksum.h"
#include "artifact/saved_model/sorted_table.h"
#include "artifact/weight_file.h"

namespace torchere::artifact::saved_model {

/// The form of the entries, of which there has been one.
static constexpr int producerVersion = 1;

void TensorBundle::note(const std::string &key, DataType dtype, const std::vector<int64_t> &shape,
                        uint64_t offset, uint32_t checksum) {
  // The number of the file, the first of one, is the default.
  Message entry;
  entry.number(1, static_cast<int>(dtype)).message(2, shapeMessage(shape));
  if (offset > 0)
    entry.number(4, static_cast<int64_t>(offset));
  if (uint64_t size = data.size() - offset; size > 0)
    entry.number(5, static_cast<int64_t>(size));
  entries[key] = entry.fixed32(6, checksum);
}

Status TensorBundle::add(const std::string &key, DataType dtype, const program::Weight &weight) {
  uint64_t offset = data.size();
  Crc32c checksum;
  if (weight.elementCount() > 0)
    TORCHERE_TRY(writeElements(weight, [&](std::span<const std::byte> bytes) {
      checksum.add(bytes);
      return data.write(bytes);
    }));
  note(key, dtype, weight.shape, offset, checksum.masked());
  return {};
}

// Strings follow their lengths and a checksum of these, which counts each length as four bytes, or as eight
// where it needs them.
Status TensorBundle::addText(const std::string &key, std::string_view text) {
  uint64_t offset = data.size();
  std::string length, counted;
  appendVarint(length, text.size());
  appendFixed32(counted, static_cast<uint32_t>(text.size()));
  if (text.size() > UINT32_MAX)
    appendFixed32(counted, static_cast<uint32_t>(static_cast<uint64_t>(text.size()) >> 32));
  Crc32c checksum;
  checksum.add(counted);
  std::string ofLengths;
  appendFixed32(ofLengths, checksum.masked());
  checksum.add(ofLengths).add(text);
  for (std::string_view part : {std::string_view(length), std::string_view(ofLengths), text})
    TORCHERE_TRY(data.write(part));
  note(key, DataType::String, {}, offset, checksum.masked());
  return {};
}

std::string TensorBundle::index() const {
  SortedTable table;
  Message header; // of one file of data, little-endian
  table.add("", header.number(1, 1).message(3, Message().number(1, producerVersion)).bytes());
  for (const auto &[key, entry] : entries)
    table.add(key, entry.bytes());
  return table.finish();
}

} // namespace torchere::artifact::saved_model
