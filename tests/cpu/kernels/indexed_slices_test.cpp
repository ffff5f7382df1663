// Gathers and scatters of slices at computed places.
#include "cpu/kernels/indexed_slices.h"
#include "test_values.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace torchere::cpu {
namespace {

class Slices : public EveryIsa {
protected:
  /// Slices of `rows` x `columns` of a plane, at places (row, column).
  static IndexedSlices at(const std::vector<int64_t> &places, int64_t height, int64_t width, int64_t rows,
                          int64_t columns) {
    IndexedSlices slices;
    slices.rank = 2;
    slices.dims[0] = height;
    slices.dims[1] = width;
    slices.strides[0] = width;
    slices.strides[1] = 1;
    slices.sizes[0] = rows;
    slices.sizes[1] = columns;
    slices.sliceStrides[0] = columns;
    slices.sliceStrides[1] = 1;
    slices.batchRank = 1;
    slices.batchDims[0] = static_cast<int64_t>(places.size() / 2);
    slices.batchStrides[0] = rows * columns;
    slices.indexStrides[0] = 2;
    slices.batchTarget[0] = -1;
    slices.components = 2;
    slices.target[0] = 0;
    slices.target[1] = 1;
    slices.componentStride = 1;
    slices.indices = places.data();
    return slices;
  }

  /// Element `i` of an array of the type: the number, of integers a hundred times as large.
  static void put(DType type, int64_t i, double number, char *array) {
    auto write = [&](auto element) { std::memcpy(array + i * byteSize(type), &element, sizeof element); };
    auto integer = static_cast<int64_t>(number * 100);
    if (type == DType::F64)
      write(number);
    else if (type == DType::F32)
      write(static_cast<float>(number));
    else if (type == DType::BF16)
      write(bf16OfFloat(static_cast<float>(number)));
    else if (type == DType::F16)
      write(f16OfFloat(static_cast<float>(number)));
    else if (type == DType::Bool)
      write(static_cast<uint8_t>(integer & 1));
    else
      std::memcpy(array + i * byteSize(type), &integer, static_cast<size_t>(byteSize(type)));
  }
};

/// Elements of a line at one index each: few and many, of integers in copies and of floats in their order.
TEST_P(Slices, ScatterOfPointsIsThatOfALoop) {
  for (int64_t size : {1, 5, 300, 400000})
    for (int64_t count : {9, 1000, 70000}) {
      std::vector<int32_t> places(count);
      for (int64_t i = 0; i < count; ++i)
        places[i] = static_cast<int32_t>(i * 7919 % (size + 3)) - 1; // some outside
      IndexedSlices slices;
      slices.rank = slices.batchRank = slices.components = 1;
      slices.dims[0] = size;
      slices.strides[0] = slices.sizes[0] = slices.sliceStrides[0] = 1;
      slices.batchDims[0] = count;
      slices.batchStrides[0] = slices.indexStrides[0] = slices.componentStride = 1;
      slices.batchTarget[0] = -1;
      slices.indexType = DType::I32;
      slices.indices = places.data();
      auto floats = randomFloats(count);
      std::vector<float> sums(size, 0.5f), expectedSums = sums;
      std::vector<int8_t> bytes(count), most(size, -3), least(size, 3), wrapped(size, 1);
      for (int64_t i = 0; i < count; ++i)
        bytes[i] = static_cast<int8_t>(i * 31);
      auto expectedMost = most, expectedLeast = least, expectedWrapped = wrapped;
      for (int64_t i = 0; i < count; ++i)
        if (int64_t at = places[i]; at >= 0 && at < size) {
          expectedSums[at] += floats[i];
          expectedMost[at] = std::max(expectedMost[at], bytes[i]);
          expectedLeast[at] = std::min(expectedLeast[at], bytes[i]);
          expectedWrapped[at] = static_cast<int8_t>(expectedWrapped[at] + bytes[i]);
        }
      scatterSlices(context, {slices, DType::F32, ScatterJoin::Sum, floats.data(), sums.data()});
      scatterSlices(context, {slices, DType::I8, ScatterJoin::Max, bytes.data(), most.data()});
      scatterSlices(context, {slices, DType::I8, ScatterJoin::Min, bytes.data(), least.data()});
      scatterSlices(context, {slices, DType::I8, ScatterJoin::Sum, bytes.data(), wrapped.data()});
      EXPECT_EQ(sums, expectedSums);
      EXPECT_EQ(most, expectedMost);
      EXPECT_EQ(least, expectedLeast);
      EXPECT_EQ(wrapped, expectedWrapped);
    }
}

/// Columns of a volume's planes, at an index each: the updates of a line lie beside each other.
TEST_P(Slices, ScatterOfColumnsIsThatOfALoop) {
  for (DType index : {DType::I64, DType::I8})
    for (int64_t count : {5, 9, 3000}) {
      constexpr int64_t depth = 3, height = 7, width = 20;
      std::vector<int64_t> places(count);
      std::vector<int8_t> bytes(count);
      for (int64_t i = 0; i < count; ++i)
        bytes[i] = static_cast<int8_t>(places[i] = i * 7919 % (width + 3) - 1); // some outside
      IndexedSlices slices;
      slices.rank = 3;
      slices.batchRank = slices.components = 1;
      int64_t dims[] = {depth, height, width};
      for (int d = 2, stride = 1; d >= 0; stride *= static_cast<int>(dims[d--])) {
        slices.dims[d] = slices.sizes[d] = dims[d];
        slices.strides[d] = stride;
      }
      slices.sizes[2] = 1;
      slices.sliceStrides[0] = height * count;
      slices.sliceStrides[1] = slices.sliceStrides[2] = count;
      slices.batchDims[0] = count;
      slices.batchStrides[0] = slices.indexStrides[0] = slices.componentStride = 1;
      slices.batchTarget[0] = -1;
      slices.target[0] = 2;
      slices.indexType = index;
      slices.indices = index == DType::I64 ? static_cast<const void *>(places.data()) : bytes.data();
      auto updates = randomFloats(depth * height * count);
      std::vector<float> sums(depth * height * width, 0.5f), last(sums), expected(sums), expectedLast(sums);
      for (int64_t row = 0; row < depth * height; ++row)
        for (int64_t i = 0; i < count; ++i)
          if (places[i] >= 0 && places[i] < width) {
            expected[row * width + places[i]] += updates[row * count + i];
            expectedLast[row * width + places[i]] = updates[row * count + i];
          }
      scatterSlices(context, {slices, DType::F32, ScatterJoin::Sum, updates.data(), sums.data()});
      scatterSlices(context, {slices, DType::F32, ScatterJoin::Replace, updates.data(), last.data()});
      EXPECT_EQ(sums, expected);
      EXPECT_EQ(last, expectedLast);
    }
}

/// One element that all are added to is read where it lies.
TEST_P(Slices, ScatterOfOneRepeatedUpdate) {
  std::vector<int64_t> places(50000);
  for (size_t i = 0; i < places.size(); ++i)
    places[i] = static_cast<int64_t>(i % 7);
  IndexedSlices slices;
  slices.rank = slices.batchRank = slices.components = 1;
  slices.dims[0] = 7;
  slices.strides[0] = slices.sizes[0] = slices.sliceStrides[0] = 1;
  slices.batchDims[0] = static_cast<int64_t>(places.size());
  slices.indexStrides[0] = slices.componentStride = 1;
  slices.batchTarget[0] = -1;
  slices.indices = places.data();
  int32_t one = 1;
  std::vector<int32_t> counts(7);
  scatterSlices(context, {slices, DType::I32, ScatterJoin::Sum, &one, counts.data()});
  EXPECT_EQ(counts, (std::vector<int32_t>{7143, 7143, 7143, 7143, 7143, 7143, 7142}));
}

TEST_P(Slices, GatherClampsPlaces) {
  std::vector<float> plane(20), output(12);
  for (size_t i = 0; i < plane.size(); ++i)
    plane[i] = static_cast<float>(i);
  std::vector<int64_t> places = {
      1, 2, -7, std::numeric_limits<int64_t>::min(), 99, std::numeric_limits<int64_t>::max()};
  gatherSlices(context, at(places, 4, 5, 2, 2), 4, plane.data(), output.data());
  EXPECT_EQ(output, (std::vector<float>{7, 8, 12, 13, 0, 1, 5, 6, 13, 14, 18, 19}));
}

/// Rows of each matrix of a batch in another order, also of one element each.
TEST_P(Slices, GatherOfRowsOfMatrices) {
  const int64_t matrices = 40, height = 6, taken = 5;
  for (int64_t width : {1, 3, 8, 40}) {
    auto tensor = randomFloats(matrices * height * width);
    std::vector<int32_t> indices(matrices * taken);
    for (int64_t i = 0; i < matrices * taken; ++i)
      indices[i] = static_cast<int32_t>(i * 37 % 9) - 1; // some outside
    IndexedSlices slices;
    slices.rank = width == 1 ? 2 : 3;
    std::tie(slices.dims[0], slices.dims[1], slices.dims[2]) = std::tuple(matrices, height, width);
    std::tie(slices.strides[0], slices.strides[1], slices.strides[2]) = std::tuple(height * width, width, 1);
    std::tie(slices.sizes[0], slices.sizes[1], slices.sizes[2]) = std::tuple(1, 1, width);
    std::tie(slices.sliceStrides[0], slices.sliceStrides[1], slices.sliceStrides[2]) =
        std::tuple(width, width, 1);
    slices.batchRank = 2;
    std::tie(slices.batchDims[0], slices.batchDims[1]) = std::pair(matrices, taken);
    std::tie(slices.batchStrides[0], slices.batchStrides[1]) = std::pair(taken * width, width);
    std::tie(slices.indexStrides[0], slices.indexStrides[1]) = std::pair(taken, int64_t(1));
    std::tie(slices.batchTarget[0], slices.batchTarget[1]) = std::pair(0, -1);
    slices.components = 1;
    slices.target[0] = 1;
    slices.indexType = DType::I32;
    slices.indices = indices.data();
    std::vector<float> output(matrices * taken * width);
    gatherSlices(context, slices, 4, tensor.data(), output.data());
    for (int64_t i = 0; i < matrices * taken * width; ++i) {
      int64_t row = std::clamp<int64_t>(indices[i / width], 0, height - 1);
      ASSERT_EQ(output[i], tensor[(i / width / taken * height + row) * width + i % width]) << width;
    }
  }
}

TEST_P(Slices, GatherOfManyRows) {
  const int64_t height = 70, width = 150, groups = 20, each = 31;
  auto plane = randomFloats(height * width);
  std::vector<int64_t> rows(groups * each);
  for (size_t i = 0; i < rows.size(); ++i)
    rows[i] = static_cast<int64_t>(i * 37 % 80) - 5; // some outside
  IndexedSlices slices = at({}, height, width, 1, width);
  slices.components = 1;
  slices.batchRank = 2; // the indices lie in another order than the slices
  std::tie(slices.batchDims[0], slices.batchDims[1]) = std::pair(groups, each);
  std::tie(slices.batchStrides[0], slices.batchStrides[1]) = std::pair(each * width, width);
  slices.batchTarget[1] = -1;
  slices.indices = rows.data();
  for (bool inOrder : {true, false}) {
    std::tie(slices.indexStrides[0], slices.indexStrides[1]) =
        inOrder ? std::pair<int64_t, int64_t>(each, 1) : std::pair<int64_t, int64_t>(1, groups);
    std::vector<float> output(groups * each * width);
    gatherSlices(context, slices, 4, plane.data(), output.data());
    for (int64_t i = 0; i < groups * each * width; ++i) {
      int64_t slice = i / width, place = inOrder ? slice : slice / each + slice % each * groups;
      int64_t row = std::clamp<int64_t>(rows[static_cast<size_t>(place)], 0, height - 1);
      ASSERT_EQ(output[static_cast<size_t>(i)], plane[static_cast<size_t>(row * width + i % width)]) << i;
    }
  }
}

TEST_P(Slices, GatherOfWholeRows) {
  std::vector<double> plane(15), output(10);
  for (size_t i = 0; i < plane.size(); ++i)
    plane[i] = static_cast<double>(i);
  std::vector<uint8_t> rows = {2, 0};
  IndexedSlices slices = at({}, 3, 5, 1, 5);
  slices.components = 1;
  slices.indexStrides[0] = 1;
  slices.batchDims[0] = 2;
  slices.indexType = DType::U8;
  slices.indices = rows.data();
  gatherSlices(context, slices, 8, plane.data(), output.data());
  EXPECT_EQ(output, (std::vector<double>{10, 11, 12, 13, 14, 0, 1, 2, 3, 4}));
}

TEST_P(Slices, GatherOfColumns) { // of the middle dimension of 3 x 5 x 2, as 3 x 2 x 4
  auto check = [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> tensor(30), output(24);
    for (size_t i = 0; i < tensor.size(); ++i)
      tensor[i] = static_cast<T>(i);
    std::vector<int32_t> places = {4, 0, -3, 99};
    int64_t inside[] = {4, 0, 0, 4};
    IndexedSlices slices = at({}, 3, 5, 3, 1);
    slices.rank = 3;
    slices.dims[2] = slices.sizes[2] = 2;
    slices.strides[0] = 10;
    slices.strides[1] = 2;
    slices.strides[2] = 1;
    slices.sliceStrides[0] = 8;
    slices.sliceStrides[1] = 0;
    slices.sliceStrides[2] = 4;
    slices.batchDims[0] = 4;
    slices.batchStrides[0] = slices.indexStrides[0] = 1;
    slices.components = 1;
    slices.target[0] = 1;
    slices.indexType = DType::I32;
    slices.indices = places.data();
    gatherSlices(context, slices, sizeof(T), tensor.data(), output.data());
    for (int64_t i = 0; i < 24; ++i)
      ASSERT_EQ(output[i], tensor[i / 8 * 10 + inside[i % 4] * 2 + i / 4 % 2]) << "at " << i;
  };
  check(uint8_t(0));
  check(uint16_t(0));
  check(0.0f);
  check(0.0);
}

TEST_P(Slices, ScatterSkipsWhatIsOutside) {
  std::vector<float> plane(20, 0.0f), updates = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  std::vector<int64_t> places = {
      1, 1, 3, 4, std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  ScatterArgs args;
  args.slices = at(places, 4, 5, 2, 2);
  args.join = ScatterJoin::Sum;
  args.updates = updates.data();
  args.tensor = plane.data();
  scatterSlices(context, args);
  std::vector<float> expected(20, 0.0f);
  expected[6] = 1;
  expected[7] = 2;
  expected[11] = 3;
  expected[12] = 4;
  expected[19] = 5;
  EXPECT_EQ(plane, expected);
}

TEST_P(Slices, TheLastOfSeveralReplaces) {
  std::vector<int32_t> plane(4, 9), updates = {1, 2, 3};
  std::vector<int64_t> places = {0, 1, 1, 1, 0, 1};
  ScatterArgs args;
  args.slices = at(places, 2, 2, 1, 1);
  args.type = DType::I32;
  args.updates = updates.data();
  args.tensor = plane.data();
  scatterSlices(context, args);
  EXPECT_EQ(plane, (std::vector<int32_t>{9, 3, 9, 2}));
}

TEST_P(Slices, JoinsOfEveryKind) {
  std::vector<int64_t> places = {0, 0, 0, 0};
  auto join = [&]<class T>(DType type, ScatterJoin kind, T first, std::vector<T> updates) {
    std::vector<T> plane = {first};
    ScatterArgs args;
    args.slices = at(places, 1, 1, 1, 1);
    args.type = type;
    args.join = kind;
    args.updates = updates.data();
    args.tensor = plane.data();
    EXPECT_TRUE(hasScatter(type, kind));
    scatterSlices(context, args);
    return plane[0];
  };
  EXPECT_EQ(join(DType::I8, ScatterJoin::Sum, int8_t(100), {int8_t(100), int8_t(1)}), int8_t(-55));
  EXPECT_EQ(join(DType::U16, ScatterJoin::Product, uint16_t(3), {uint16_t(5), uint16_t(7)}), 105);
  EXPECT_EQ(join(DType::I64, ScatterJoin::Max, int64_t(-3), {int64_t(-5), int64_t(-1)}), -1);
  EXPECT_EQ(join(DType::F64, ScatterJoin::Min, 3.0, {2.5, 7.0}), 2.5);
  EXPECT_TRUE(std::isnan(join(DType::F32, ScatterJoin::Max, 1.0f, {NAN, 2.0f})));
  EXPECT_EQ(join(DType::U32, ScatterJoin::And, 7u, {6u, 3u}), 2u);
  EXPECT_EQ(join(DType::Bool, ScatterJoin::Sum, uint8_t(1), {uint8_t(1), uint8_t(0)}), 1);
  EXPECT_EQ(join(DType::F16, ScatterJoin::Sum, f16OfFloat(1), {f16OfFloat(0.5f), f16OfFloat(-4)}),
            f16OfFloat(-2.5f));
  EXPECT_EQ(join(DType::BF16, ScatterJoin::Product, bf16OfFloat(3), {bf16OfFloat(0.5f), bf16OfFloat(2)}),
            bf16OfFloat(3));
  EXPECT_FALSE(hasScatter(DType::C64, ScatterJoin::Sum));
}

/// Points of a batch of planes: the batch's number is one coordinate, the indices have the others. Some are
/// outside.
class Points : public EveryIsa {
protected:
  static constexpr int64_t batches = 3, height = 7, width = 11, count = 1500;

  template <class Index> static int64_t signedPlace(Index place) {
    return std::cmp_less(place, INT64_MAX) ? static_cast<int64_t>(place) : INT64_MAX;
  }

  template <class Index> void check(DType indexType) {
    std::vector<Index> places;
    for (int64_t i = 0; i < batches * count; ++i)
      places.insert(places.end(), {Index(i * 37 % (height + 2) - 1), Index(i * 11 % 53 % (width + 1))});
    IndexedSlices slices;
    slices.rank = 3;
    int64_t dims[] = {batches, height, width}, strides[] = {height * width, 1, height}; // planes transposed
    for (int d = 0; d < 3; ++d) {
      slices.dims[d] = dims[d];
      slices.strides[d] = strides[d];
      slices.sizes[d] = 1;
    }
    slices.batchRank = 2;
    slices.batchTarget[0] = 0;
    slices.batchTarget[1] = -1;
    std::tie(slices.batchDims[0], slices.batchDims[1]) = std::pair(batches, count);
    std::tie(slices.batchStrides[0], slices.batchStrides[1]) = std::pair<int64_t, int64_t>(1, batches);
    std::tie(slices.indexStrides[0], slices.indexStrides[1]) = std::pair<int64_t, int64_t>(2 * count, 2);
    slices.components = 2;
    slices.target[0] = 1;
    slices.target[1] = 2;
    slices.componentStride = 1;
    slices.indexType = indexType;
    slices.indices = places.data();
    gather<float, Index>(slices, places);
    gather<uint8_t, Index>(slices, places);
    for (ScatterJoin join : {ScatterJoin::Sum, ScatterJoin::Replace, ScatterJoin::Max})
      scatter<Index>(slices, places, join);
  }

  template <class T, class Index> void gather(const IndexedSlices &slices, const std::vector<Index> &places) {
    std::vector<T> tensor(batches * height * width), output(batches * count);
    for (size_t i = 0; i < tensor.size(); ++i)
      tensor[i] = T(i);
    gatherSlices(context, slices, sizeof(T), tensor.data(), output.data());
    for (int64_t b = 0; b < batches; ++b)
      for (int64_t i = 0; i < count; ++i) {
        int64_t row = std::clamp<int64_t>(signedPlace(places[2 * (b * count + i)]), 0, height - 1),
                column = std::clamp<int64_t>(signedPlace(places[2 * (b * count + i) + 1]), 0, width - 1);
        ASSERT_EQ(output[i * batches + b], tensor[b * height * width + column * height + row]) << i;
      }
  }

  template <class Index>
  void scatter(const IndexedSlices &slices, const std::vector<Index> &places, ScatterJoin join) {
    auto tensor = randomFloats(batches * height * width), updates = randomFloats(batches * count);
    std::vector<float> expected = tensor;
    for (int64_t b = 0; b < batches; ++b)
      for (int64_t i = 0; i < count; ++i) {
        int64_t row = signedPlace(places[2 * (b * count + i)]),
                column = signedPlace(places[2 * (b * count + i) + 1]);
        if (row < 0 || row >= height || column < 0 || column >= width)
          continue;
        float &to = expected[b * height * width + column * height + row], update = updates[i * batches + b];
        to = join == ScatterJoin::Sum   ? to + update
             : join == ScatterJoin::Max ? std::max(to, update)
                                        : update;
      }
    ScatterArgs args;
    args.slices = slices;
    args.join = join;
    args.updates = updates.data();
    args.tensor = tensor.data();
    scatterSlices(context, args);
    ASSERT_EQ(tensor, expected);
  }
};

TEST_P(Points, OfEveryIndexType) {
  check<int8_t>(DType::I8);
  check<int16_t>(DType::I16);
  check<int32_t>(DType::I32);
  check<int64_t>(DType::I64);
  check<uint8_t>(DType::U8);
  check<uint16_t>(DType::U16);
  check<uint32_t>(DType::U32);
  check<uint64_t>(DType::U64);
}

TORCHERE_EVERY_ISA(Points);

/// A dimension that goes along with the updates, by which no index changes: whole rows are added.
TEST_P(Slices, RowsThatAreWrittenAsPoints) {
  const int64_t count = 900, rows = 40;
  for (int64_t width : {4, 70}) {
    auto updates = randomFloats(count * width);
    std::vector<int64_t> places;
    for (int64_t i = 0; i < count; ++i)
      places.push_back(i * 37 % (rows + 2) - 1);
    std::vector<float> expected(rows * width, 0.0f), plane = expected;
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = 0; j < width && places[i] >= 0 && places[i] < rows; ++j)
        expected[places[i] * width + j] += updates[i * width + j];
    ScatterArgs args;
    IndexedSlices &slices = args.slices = at({}, rows, width, 1, 1);
    slices.components = 1;
    slices.batchRank = 2;
    std::tie(slices.batchDims[0], slices.batchDims[1]) = std::pair(count, width);
    std::tie(slices.batchStrides[0], slices.batchStrides[1]) = std::pair<int64_t, int64_t>(width, 1);
    std::tie(slices.indexStrides[0], slices.indexStrides[1]) = std::pair<int64_t, int64_t>(1, 0);
    std::tie(slices.batchTarget[0], slices.batchTarget[1]) = std::pair(-1, 1);
    slices.indices = places.data();
    args.join = ScatterJoin::Sum;
    args.updates = updates.data();
    args.tensor = plane.data();
    scatterSlices(context, args);
    ASSERT_EQ(plane, expected);
  }
}

/// Of 6 planes of 5 x 7, at pixels (row, column), as where an image is sampled.
TEST_P(Slices, GatherOfPixelsOfAllPlanes) {
  auto planes = randomFloats(6 * 5 * 7);
  std::vector<int64_t> places;
  for (int64_t i = 0; i < 40; ++i)
    places.insert(places.end(), {i * 3 % 7 - 1, i * 5 % 9 - 1});
  IndexedSlices slices = at(places, 5, 7, 1, 1);
  slices.rank = 3;
  int64_t dims[] = {6, 5, 7}, strides[] = {35, 7, 1};
  for (int d = 0; d < 3; ++d) {
    slices.dims[d] = dims[d];
    slices.strides[d] = strides[d];
    slices.sizes[d] = d == 0 ? 6 : 1;
  }
  slices.sliceStrides[0] = 40;
  slices.batchStrides[0] = 1;
  slices.target[0] = 1;
  slices.target[1] = 2;
  std::vector<float> output(6 * 40);
  gatherSlices(context, slices, 4, planes.data(), output.data());
  for (int64_t i = 0; i < 240; ++i) {
    int64_t row = std::clamp<int64_t>(places[2 * (i % 40)], 0, 4),
            column = std::clamp<int64_t>(places[2 * (i % 40) + 1], 0, 6);
    ASSERT_EQ(output[i], planes[i / 40 * 35 + row * 7 + column]) << i;
  }
}

/// Rows that are cut by columns, of a tensor that is fetched ahead.
TEST_P(Slices, SumsOfWideRows) {
  for (int64_t width : {16, 100, 200}) {
    int64_t count = 3000, rows = 700;
    auto updates = randomFloats(count * width);
    std::vector<int64_t> places;
    for (int64_t i = 0; i < count; ++i)
      places.push_back(i * 7919 % (rows + 9) - 4);
    std::vector<float> expected(rows * width, 0.0f), plane = expected;
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = 0; j < width && places[i] >= 0 && places[i] < rows; ++j)
        expected[places[i] * width + j] += updates[i * width + j];
    ScatterArgs args;
    args.slices = at({}, rows, width, 1, width);
    args.slices.components = 1;
    args.slices.indexStrides[0] = 1;
    args.slices.batchDims[0] = count;
    args.slices.indices = places.data();
    args.join = ScatterJoin::Sum;
    args.updates = updates.data();
    args.tensor = plane.data();
    scatterSlices(context, args);
    ASSERT_EQ(plane, expected);
  }
}

/// Joined by rows, and one element after the other where columns of the tensor are contiguous: the same bits.
TEST_P(Slices, JoinedRowsOfEveryTypeAreThoseOfElements) {
  const int64_t count = 1500, rows = 60;
  std::vector<int32_t> places;
  for (int64_t i = 0; i < count; ++i)
    places.push_back(static_cast<int32_t>(i * 7919 % (rows + 2) - 1)); // some outside
  const DType types[] = {DType::Bool, DType::I8,  DType::I16, DType::I32,  DType::I64, DType::U8, DType::U16,
                         DType::U32,  DType::U64, DType::F16, DType::BF16, DType::F32, DType::F64};
  for (int64_t width : {21, 43})
    for (DType type : types)
      for (ScatterJoin join : {ScatterJoin::Sum, ScatterJoin::Product, ScatterJoin::Max, ScatterJoin::Min,
                               ScatterJoin::And, ScatterJoin::Or}) {
        if (!hasScatter(type, join))
          continue;
        int64_t size = byteSize(type);
        std::vector<char> updates(count * width * size), byRows(rows * width * size), byColumns = byRows;
        for (int64_t i = 0; i < count * width; ++i)
          put(type, i, 1 + 0.01 * static_cast<double>(i * 31 % 97 - 50), updates.data());
        ScatterArgs args;
        args.slices = at({}, rows, width, 1, width);
        args.slices.components = 1;
        args.slices.indexStrides[0] = 1;
        args.slices.batchDims[0] = count;
        args.slices.indexType = DType::I32;
        args.slices.indices = places.data();
        args.type = type;
        args.join = join;
        args.updates = updates.data();
        args.tensor = byRows.data();
        scatterSlices(context, args);
        args.slices.strides[0] = 1;
        args.slices.strides[1] = rows;
        args.tensor = byColumns.data();
        scatterSlices(context, args);
        for (int64_t i = 0; i < rows * width; ++i)
          ASSERT_EQ(0,
                    std::memcmp(&byRows[i * size], &byColumns[(i % width * rows + i / width) * size], size))
              << dtypeInfo(type).shortName << ' ' << static_cast<int>(join) << ' ' << i;
      }
}

/// Rows of NaN: whichever of both has it, a maximum and a minimum are NaN.
TEST_P(Slices, JoinedRowsKeepNaN) {
  const int64_t width = 37;
  for (ScatterJoin join : {ScatterJoin::Sum, ScatterJoin::Max, ScatterJoin::Min})
    for (bool inTensor : {false, true}) {
      std::vector<float> updates(2 * width, inTensor ? 1.0f : NAN), plane(2 * width, inTensor ? NAN : 1.0f);
      std::vector<int64_t> places{1, 1};
      ScatterArgs args;
      args.slices = at({}, 2, width, 1, width);
      args.slices.components = args.slices.indexStrides[0] = 1;
      args.slices.batchDims[0] = 2;
      args.slices.indices = places.data();
      args.join = join;
      args.updates = updates.data();
      args.tensor = plane.data();
      scatterSlices(context, args);
      for (int64_t i = 0; i < width; ++i) {
        EXPECT_EQ(std::isnan(plane[i]), inTensor);
        EXPECT_TRUE(std::isnan(plane[width + i]));
      }
    }
}

/// Sums of f32 are in the order of the slices, however many parts write.
/// Points whose rows, or whose columns, are their own: updates of one axis, as gather() and scatter_add()
/// have them, at one index each, some outside.
TEST_P(Slices, PointsOfOneAxis) {
  const int64_t rows = 310, columns = 150;
  for (int axis : {0, 1})
    for (bool isLong : {false, true}) {
      std::vector<int32_t> places(rows * columns);
      std::vector<int64_t> longPlaces(rows * columns);
      for (int64_t i = 0; i < rows * columns; ++i)
        longPlaces[i] = places[i] = static_cast<int32_t>(i * 7919 % (axis == 0 ? 313 : 153)) - 1;
      IndexedSlices slices;
      slices.rank = slices.batchRank = 2;
      for (auto *sizes : {slices.dims, slices.batchDims})
        std::tie(sizes[0], sizes[1]) = std::pair(rows, columns);
      for (auto *strides : {slices.strides, slices.batchStrides, slices.indexStrides})
        std::tie(strides[0], strides[1]) = std::pair(columns, 1);
      slices.sizes[0] = slices.sizes[1] = 1;
      slices.sliceStrides[0] = slices.sliceStrides[1] = 1;
      slices.components = 1;
      slices.target[0] = axis;
      slices.batchTarget[axis] = -1;
      slices.batchTarget[1 - axis] = 1 - axis;
      slices.indexType = isLong ? DType::I64 : DType::I32;
      slices.indices = isLong ? static_cast<const void *>(longPlaces.data()) : places.data();
      auto updates = randomFloats(rows * columns);
      std::vector<float> gathered(rows * columns);
      gatherSlices(context, slices, 4, updates.data(), gathered.data());
      for (ScatterJoin join : {ScatterJoin::Replace, ScatterJoin::Sum, ScatterJoin::Max}) {
        std::vector<float> tensor(rows * columns, 0.25f), expected = tensor;
        for (int64_t i = 0; i < rows * columns; ++i) {
          int64_t size = axis == 0 ? rows : columns, place = places[i];
          int64_t at = axis == 0 ? place * columns + i % columns : i / columns * columns + place;
          int64_t clamped = std::clamp<int64_t>(place, 0, size - 1);
          int64_t from = axis == 0 ? clamped * columns + i % columns : i / columns * columns + clamped;
          ASSERT_EQ(gathered[i], updates[from]);
          if (place < 0 || place >= size)
            continue;
          expected[at] = join == ScatterJoin::Replace ? updates[i]
                         : join == ScatterJoin::Sum   ? expected[at] + updates[i]
                                                      : std::max(expected[at], updates[i]);
        }
        ScatterArgs args;
        args.slices = slices;
        args.join = join;
        args.updates = updates.data();
        args.tensor = tensor.data();
        scatterSlices(context, args);
        ASSERT_EQ(tensor, expected) << axis;
      }
    }
}

TEST_P(Slices, TheSameForAnyNumberOfThreads) {
  for (int64_t width : {8, 40}) {
    int64_t count = 60000, rows = 50;
    auto updates = randomFloats(count * width);
    std::vector<int64_t> places;
    for (int64_t i = 0; i < count; ++i)
      places.insert(places.end(), {i * 7919 % rows, 0});
    std::vector<float> expected(rows * width, 0.0f);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = 0; j < width; ++j)
        expected[places[2 * i] * width + j] += updates[i * width + j];
    for (int threads : {1, 2, 5}) {
      ThreadPool other(threads);
      std::vector<float> plane(rows * width, 0.0f);
      ScatterArgs args;
      args.slices = at(places, rows, width, 1, width);
      args.join = ScatterJoin::Sum;
      args.updates = updates.data();
      args.tensor = plane.data();
      scatterSlices({other, context.isa}, args);
      EXPECT_EQ(plane, expected);
    }
  }
}

TORCHERE_EVERY_ISA(Slices);

} // namespace
} // namespace torchere::cpu
