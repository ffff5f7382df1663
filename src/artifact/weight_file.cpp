// Weights as npy files: streamed from their storages, and mapped back as views.
#include "artifact/weight_file.h"

#include "base/file.h"
#include "base/npy.h"
#include "program/entry_point.h"

#include <algorithm>
#include <cstring>

namespace torchere::artifact {

using program::Storage;
using program::Weight;

static constexpr size_t pieceSize = 1 << 20; // bytes gathered before a write

Status verifyWeight(const Weight &weight, std::string_view subject) {
  if (weight.strides.size() != weight.shape.size())
    return invalidArgument("[{}] got {} strides for the shape {}, expected {}", subject,
                           weight.strides.size(), program::shapeText(weight.shape), weight.shape.size());
  bool isEmpty = false;
  // The view's first and last element in its storage. 128 bits hold the sum of 64 products of two 63-bit
  // numbers.
  __int128 first = weight.storageOffset, last = weight.storageOffset;
  for (size_t index = 0; index < weight.shape.size(); ++index) {
    int64_t size = weight.shape[index];
    if (size < 0)
      return invalidArgument("[{}] wrong shape: got {}, expected sizes of at least 0", subject,
                             program::shapeText(weight.shape));
    isEmpty = isEmpty || size == 0;
    __int128 extent = static_cast<__int128>(std::max<int64_t>(size - 1, 0)) * weight.strides[index];
    (extent < 0 ? first : last) += extent;
  }
  if (isEmpty)
    return {};
  size_t available = weight.storage ? weight.storage->byteSize / byteSize(weight.dtype) : 0;
  if (first < 0 || last >= static_cast<__int128>(available))
    return invalidArgument(
        "[{}] lies outside its storage: got a view of shape {} at offset {}, expected it within "
        "{} elements",
        subject, program::shapeText(weight.shape), weight.storageOffset, available);
  return {};
}

Result<Weight> weightWithoutData(std::string name, DType dtype, std::vector<int64_t> shape,
                                 std::string_view subject) {
  int64_t size = static_cast<int64_t>(byteSize(dtype));
  for (int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(size, std::max<int64_t>(extent, 1), &size))
      return fail(ErrorCode::DataLoss, "[{}] wrong shape: got {}, expected one that fits in memory", subject,
                  program::shapeText(shape));
  std::vector<int64_t> strides = denseStrides(shape, /*fortranOrder=*/false);
  auto storage = std::make_shared<const Storage>(Storage{nullptr, nullptr, static_cast<size_t>(size)});
  return Weight{std::move(name), dtype, std::move(shape), std::move(strides), 0, std::move(storage)};
}

namespace {

/// Collects small runs of bytes into pieces.
class PieceWriter {
public:
  explicit PieceWriter(const WriteBytes &write) : write(write) { piece.reserve(pieceSize); }

  Status add(const std::byte *data, size_t size) {
    if (size >= pieceSize) {
      TORCHERE_TRY(flush());
      return write({data, size});
    }
    if (piece.size() + size > pieceSize)
      TORCHERE_TRY(flush());
    piece.insert(piece.end(), data, data + size);
    return {};
  }
  Status flush() {
    TORCHERE_TRY(write(piece));
    piece.clear();
    return {};
  }

private:
  const WriteBytes &write;
  std::vector<std::byte> piece;
};

} // namespace

// The innermost contiguous dimensions form runs, the others are stepped through like the digits of a counter.
Status writeElements(const Weight &weight, const WriteBytes &write) {
  if (weight.elementCount() == 0)
    return {};
  size_t itemSize = byteSize(weight.dtype);
  size_t outer = weight.shape.size();
  int64_t run = 1;
  while (outer > 0 && (weight.shape[outer - 1] == 1 || weight.strides[outer - 1] == run))
    run *= weight.shape[--outer];
  size_t runSize = static_cast<size_t>(run) * itemSize;
  if (outer == 0)
    return write({weight.data(), runSize});

  PieceWriter writer(write);
  std::vector<int64_t> counter(outer, 0);
  int64_t offset = 0; // in elements, from the view's first
  for (bool more = true; more;) {
    TORCHERE_TRY(writer.add(weight.data() + offset * static_cast<int64_t>(itemSize), runSize));
    size_t digit = outer;
    for (; digit > 0; --digit) {
      offset += weight.strides[digit - 1];
      if (++counter[digit - 1] < weight.shape[digit - 1])
        break;
      offset -= weight.shape[digit - 1] * weight.strides[digit - 1];
      counter[digit - 1] = 0;
    }
    more = digit > 0;
  }
  return writer.flush();
}

Status writeWeight(const Weight &weight, FileWriter &file) {
  return writeWeight(weight, [&](std::span<const std::byte> bytes) { return file.write(bytes); });
}

Status writeWeight(const Weight &weight, const WriteBytes &write) {
  std::string header = makeNpyHeader(weight.dtype, weight.shape);
  TORCHERE_TRY(write(std::as_bytes(std::span(header))));
  return writeElements(weight, write);
}

uint64_t weightFileSize(const Weight &weight) {
  return makeNpyHeader(weight.dtype, weight.shape).size() +
         static_cast<uint64_t>(weight.elementCount()) * byteSize(weight.dtype);
}

/// The elements of a mapped file, in place. Old versions of numpy did not align them, nor do other writers of
/// zip files; such elements are copied.
static Storage storageOf(FileBytes file, const NpyHeader &header) {
  constexpr size_t minimumAlignment = 16; // of the widest element
  std::span<const std::byte> data = file.bytes.subspan(header.dataOffset);
  if (reinterpret_cast<uintptr_t>(data.data()) % minimumAlignment == 0)
    return {std::move(file.owner), data.data(), data.size()};
  auto copy = std::make_shared<std::vector<std::byte>>(data.begin(), data.end());
  const std::byte *address = copy->data();
  return {std::move(copy), address, data.size()};
}

Result<Weight> mapWeight(const std::filesystem::path &path, std::string name, std::optional<DType> dtype) {
  TORCHERE_ASSIGN(std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  std::span<const std::byte> bytes = file->bytes();
  return weightOf({std::move(file), bytes}, path.string(), std::move(name), dtype);
}

Result<Weight> weightOf(FileBytes file, std::string_view subject, std::string name,
                        std::optional<DType> dtype) {
  TORCHERE_ASSIGN(NpyHeader header, parseNpyHeader(file.bytes, subject));
  Weight weight;
  TORCHERE_ASSIGN(weight.dtype, dtypeFromDescr(header.descr, dtype, subject));
  weight.name = std::move(name);
  weight.strides = denseStrides(header.shape, header.fortranOrder);
  weight.shape = header.shape;
  weight.storage = std::make_shared<const Storage>(storageOf(std::move(file), header));
  return weight;
}

} // namespace torchere::artifact
