// Tests of ReadAhead: each value is read once, whoever reads it, and errors come in the taker's order.
#include "artifact/read_ahead.h"

#include "base/error.h"

#include <gtest/gtest.h>

#include <chrono>

namespace torchere::artifact {
namespace {

class ReadAheadTest : public testing::TestWithParam<size_t> {};

TEST_P(ReadAheadTest, EachValueIsReadOnce) {
  size_t count = GetParam();
  std::vector<std::atomic<int>> reads(count);
  auto read = [&](size_t index) {
    ++reads[index];
    return std::to_string(index);
  };
  ReadAhead<std::string, decltype(read)> values(count, read);
  for (size_t index = 0; index < count; ++index)
    EXPECT_EQ(values.take(index), std::to_string(index));
  for (const std::atomic<int> &each : reads)
    EXPECT_EQ(each.load(), 1);
}

TEST_P(ReadAheadTest, AValueThatTheThreadHasNoMemoryForIsReadByItsTaker) {
  size_t count = GetParam();
  std::thread::id taker = std::this_thread::get_id();
  auto read = [&](size_t index) {
    if (std::this_thread::get_id() != taker)
      throw std::bad_alloc();
    return index * 2;
  };
  ReadAhead<size_t, decltype(read)> values(count, read);
  for (size_t index = 0; index < count; ++index)
    EXPECT_EQ(values.take(index), index * 2);
}

INSTANTIATE_TEST_SUITE_P(Counts, ReadAheadTest, testing::Values(0, 1, 31, 32, 33, 1000));

TEST(ReadAhead, AnErrorReachesTheTakerOfItsIndexOnly) {
  auto read = [](size_t index) -> Result<size_t> {
    if (index % 50 == 7)
      return fail(ErrorCode::DataLoss, "[{}] is wrong", index);
    return index;
  };
  ReadAhead<Result<size_t>, decltype(read)> values(200, read);
  for (size_t index = 0; index < 200; ++index) {
    Result<size_t> value = values.take(index);
    ASSERT_EQ(value.has_value(), index % 50 != 7);
    if (!value) {
      EXPECT_EQ(value.error().message, fmt::format("[{}] is wrong", index));
    }
  }
}

TEST(ReadAhead, EndsWithoutReadingWhatNobodyTakes) {
  std::atomic<size_t> reads{0};
  auto read = [&](size_t index) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++reads;
    return index;
  };
  {
    ReadAhead<size_t, decltype(read)> values(100000, read);
  }
  EXPECT_LT(reads.load(), 100000u);
}

} // namespace
} // namespace torchere::artifact
