// Weights as files: strided views arrive in C order, files are mapped as they are, and wrong ones are named.
#include "artifact/weight_file.h"

#include "../base/temporary_directory.h"
#include "base/npy.h"
#include "sample_bundle.h"

namespace torchere::artifact {
namespace {

using program::Weight;

Status writeFileOf(const Weight &weight, const std::filesystem::path &path) {
  TORCHERE_ASSIGN(FileWriter file, FileWriter::create(path));
  TORCHERE_TRY(writeWeight(weight, file));
  return file.close();
}

Weight roundTrip(const Weight &weight, const TemporaryDirectory &directory) {
  std::filesystem::remove(directory / "w");
  Status written = writeFileOf(weight, directory / "w");
  EXPECT_TRUE(written.has_value()) << written.error().message;
  Result<Weight> read = mapWeight(directory / "w", weight.name, weight.dtype);
  EXPECT_TRUE(read.has_value()) << read.error().message;
  return *read;
}

TEST(WeightFile, KeepsStridedViewsOfEveryKind) {
  TemporaryDirectory directory;
  auto storage = floatStorage(120);
  std::vector<Weight> views = {
      makeWeight("dense", DType::F32, {4, 5, 6}, {30, 6, 1}, storage),
      makeWeight("offset", DType::F32, {2, 3}, {3, 1}, storage, 7),
      makeWeight("transposed", DType::F32, {6, 20}, {1, 6}, storage),
      makeWeight("rows", DType::F32, {5, 6}, {24, 1}, storage, 2),
      makeWeight("permuted", DType::F32, {5, 4, 6}, {6, 30, 1}, storage),
      makeWeight("expanded", DType::F32, {3, 4}, {0, 1}, storage, 5),
      makeWeight("reversed", DType::F32, {5}, {-2}, storage, 60),
      makeWeight("of one", DType::F32, {1, 3, 1}, {99, 1, 77}, storage),
      makeWeight("scalar", DType::F32, {}, {}, storage, 119),
      makeWeight("empty", DType::F32, {3, 0}, {1, 1}, storage),
  };
  for (const Weight &view : views) {
    SCOPED_TRACE(view.name);
    ASSERT_TRUE(verifyWeight(view, view.name).has_value());
    Weight read = roundTrip(view, directory);
    EXPECT_EQ(read.shape, view.shape);
    EXPECT_EQ(elementsOf(read), elementsOf(view));
    EXPECT_TRUE(read.isContiguous());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(read.storage->data) % 64, 0u);
  }
}

TEST(WeightFile, GathersMoreThanOnePiece) {
  TemporaryDirectory directory;
  // 3 MB, transposed: runs of one element, in several pieces; and rows of 2 MB, longer than a piece.
  auto storage = floatStorage(1 << 20);
  Weight transposed = makeWeight("t", DType::F32, {768, 1024}, {1, 768}, storage);
  EXPECT_EQ(elementsOf(roundTrip(transposed, directory)), elementsOf(transposed));
  Weight rows = makeWeight("r", DType::F32, {2, 400000}, {500000, 1}, storage);
  EXPECT_EQ(elementsOf(roundTrip(rows, directory)), elementsOf(rows));
}

TEST(WeightFile, KeepsEveryDType) {
  TemporaryDirectory directory;
  for (int index = 0; index <= static_cast<int>(DType::F8E8M0FNU); ++index) {
    const DTypeInfo &info = dtypeInfo(static_cast<DType>(index));
    std::vector<unsigned char> bytes;
    for (size_t byte = 0; byte < 3 * info.byteSize; ++byte)
      bytes.push_back(info.dtype == DType::Bool ? byte % 2 : static_cast<unsigned char>(byte + 1));
    Weight weight = makeWeight("w", info.dtype, {3}, {1}, makeStorage(bytes));
    Weight read = roundTrip(weight, directory);
    EXPECT_EQ(read.dtype, info.dtype);
    EXPECT_EQ(elementsOf(read), std::string(bytes.begin(), bytes.end())) << info.torchName;
  }
}

TEST(WeightFile, MapsFortranOrderAsStrides) {
  TemporaryDirectory directory;
  std::string dictionary = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }";
  dictionary += std::string(128 - 10 - dictionary.size(), ' ');
  std::string header = std::string("\x93NUMPY\1\0", 8) + static_cast<char>(118) + '\0' + dictionary;
  auto storage = floatStorage(6);
  directory.put("w", header + std::string(reinterpret_cast<const char *>(storage->data), 24));
  Result<Weight> read = mapWeight(directory / "w", "w", {});
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->strides, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(elementsOf(*read), elementsOf(makeWeight("", DType::F32, {2, 3}, {1, 2}, storage)));
}

TEST(WeightFile, CopiesDataThatIsNotAligned) {
  TemporaryDirectory directory;
  std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  std::string header =
      std::string("\x93NUMPY\1\0", 8) + static_cast<char>(dictionary.size()) + '\0' + dictionary;
  ASSERT_NE(header.size() % 4, 0u);
  auto storage = floatStorage(2, 3);
  directory.put("w", header + std::string(reinterpret_cast<const char *>(storage->data), 8));
  Result<Weight> read = mapWeight(directory / "w", "w", {});
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(reinterpret_cast<uintptr_t>(read->storage->data) % 16, 0u);
  EXPECT_EQ(elementsOf(*read), std::string(reinterpret_cast<const char *>(storage->data), 8));
}

TEST(WeightFile, SaysWhatIsWrong) {
  TemporaryDirectory directory;
  std::string path = (directory / "w").string();
  directory.put("w", makeNpyHeader(DType::F64, std::vector<int64_t>{2}) + std::string(15, 'x'));
  EXPECT_EQ(mapWeight(path, "w", {}).error().message,
            "[" + path + "] wrong size of data: got 15 bytes, expected 16 (the file is cut off)");
  directory.put("w", makeNpyHeader(DType::F64, std::vector<int64_t>{2}) + std::string(16, 'x'));
  EXPECT_EQ(mapWeight(path, "w", DType::F32).error().message,
            "[" + path + "] wrong dtype: got '<f8', expected '<f4' (float32)");
  EXPECT_EQ(writeFileOf(makeWeight("w", DType::F32, {1}, {1}, floatStorage(1)), path).error().message,
            "[" + path + "] cannot be created: File exists");
}

TEST(VerifyWeight, RefusesViewsOutsideTheirStorage) {
  auto storage = floatStorage(6);
  auto message = [&](const Weight &weight) {
    Status status = verifyWeight(weight, "w");
    return status ? "accepted" : status.error().message;
  };
  EXPECT_EQ(message(makeWeight("w", DType::F32, {2, 3}, {3, 1}, storage)), "accepted");
  EXPECT_EQ(
      message(makeWeight("w", DType::F32, {2, 3}, {3, 1}, storage, 1)),
      "[w] lies outside its storage: got a view of shape (2, 3) at offset 1, expected it within 6 elements");
  EXPECT_EQ(
      message(makeWeight("w", DType::F64, {2, 3}, {3, 1}, storage)),
      "[w] lies outside its storage: got a view of shape (2, 3) at offset 0, expected it within 3 elements");
  EXPECT_EQ(
      message(makeWeight("w", DType::F32, {2}, {-1}, storage)),
      "[w] lies outside its storage: got a view of shape (2,) at offset 0, expected it within 6 elements");
  EXPECT_EQ(
      message(makeWeight("w", DType::F32, {int64_t(1) << 62, 8}, {8, int64_t(1) << 62}, storage)),
      "[w] lies outside its storage: got a view of shape (4611686018427387904, 8) at offset 0, expected it "
      "within 6 elements");
  EXPECT_EQ(
      message(makeWeight("w", DType::F32, {1}, {1}, nullptr)),
      "[w] lies outside its storage: got a view of shape (1,) at offset 0, expected it within 0 elements");
  EXPECT_EQ(message(makeWeight("w", DType::F32, {0, 99}, {1, 1}, storage, 70)), "accepted");
  EXPECT_EQ(message(makeWeight("w", DType::F32, {2, 3}, {1}, storage)),
            "[w] got 1 strides for the shape (2, 3), expected 2");
  EXPECT_EQ(message(makeWeight("w", DType::F32, {-2}, {1}, storage)),
            "[w] wrong shape: got (-2,), expected sizes of at least 0");
}

} // namespace
} // namespace torchere::artifact
