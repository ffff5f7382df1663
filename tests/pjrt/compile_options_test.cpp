// CompileOptions: what is read of a CompileOptionsProto, which may be anybody's.
#include "pjrt/compile_options.h"

#include <gtest/gtest.h>

namespace torchere::pjrt {
namespace {

using namespace std::string_literals;

/// A field of bytes, shorter than 128.
std::string field(int number, const std::string &bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}

void expectError(const std::string &bytes, ErrorCode code, const std::string &message) {
  auto options = CompileOptions::parse(bytes);
  ASSERT_FALSE(options);
  EXPECT_EQ(options.error().code, code);
  EXPECT_EQ(options.error().message, message);
}

TEST(CompileOptions, EmptyOnesMeanOneProcess) {
  auto options = CompileOptions::parse("");
  ASSERT_TRUE(options) << options.error().text();
  EXPECT_EQ(options->replicaCount, 1);
  EXPECT_EQ(options->partitionCount, 1);
  EXPECT_TRUE(options->deviceIds.empty());
  EXPECT_FALSE(options->isPortable);
}

TEST(CompileOptions, ReadsCountsAndTheAssignment) {
  // Two replicas (4) of two partitions (5). The first partition's ids are packed, the second's are not.
  std::string assignment =
      "\x08\x02\x10\x02" + field(3, field(1, "\x03\x01")) + field(3, "\x08\x02\x08\x00"s);
  std::string bytes = "\x20\x01" + field(3, "\x20\x02\x28\x02" + field(9, assignment));
  auto options = CompileOptions::parse(bytes);
  ASSERT_TRUE(options) << options.error().text();
  EXPECT_EQ(options->replicaCount, 2);
  EXPECT_EQ(options->partitionCount, 2);
  EXPECT_EQ(options->deviceIds, (std::vector<int64_t>{3, 2, 1, 0}));
  EXPECT_TRUE(options->isPortable);
}

TEST(CompileOptions, PassesOverWhatItDoesNotKnow) {
  // A number, four bytes, eight bytes and a message, of numbers that XLA may have.
  std::string unknown = "\x78\x05\x7d"
                        "abcd"
                        "\x79"
                        "abcdefgh" +
                        field(7, "text");
  auto options = CompileOptions::parse(unknown + field(3, unknown + "\x20\x03") + unknown);
  ASSERT_TRUE(options) << options.error().text();
  EXPECT_EQ(options->replicaCount, 3);
}

TEST(CompileOptions, RefusesWhatIsNoMessage) {
  std::string malformed = "[compile options] malformed: expected a CompileOptionsProto";
  expectError("\x1a", ErrorCode::InvalidArgument, malformed);
  expectError("\x1a\x05"
              "ab",
              ErrorCode::InvalidArgument, malformed);
  expectError("\x1b", ErrorCode::InvalidArgument, malformed);                  // a group
  expectError(std::string(11, '\xff'), ErrorCode::InvalidArgument, malformed); // a number without end
  expectError(field(3, "\x20"), ErrorCode::InvalidArgument, malformed);
}

TEST(CompileOptions, RefusesCountsOutOfRange) {
  expectError(field(3, "\x20\x81\x08"), ErrorCode::InvalidArgument,
              "[compile options] number of processes out of range: got 1025 replicas of 1 partitions, "
              "expected 1 to 1024 in all");
  expectError(field(3, "\x20" + std::string(9, '\xff') + "\x01"), ErrorCode::InvalidArgument,
              "[compile options] number of processes out of range: got -1 replicas of 1 partitions, "
              "expected 1 to 1024 in all");
}

TEST(CompileOptions, RefusesAnAssignmentThatDoesNotFit) {
  std::string assignment = "\x08\x01\x10\x01" + field(3, field(1, "\x03"));
  expectError(field(3, "\x20\x02" + field(9, assignment)), ErrorCode::InvalidArgument,
              "[compile options] device assignment that does not fit: got 1 replicas of 1 partitions, "
              "expected 2 of 1");
}

TEST(CompileOptions, RefusesTupledArguments) {
  expectError("\x10\x01", ErrorCode::Unimplemented,
              "[compile options] arguments in a tuple: expected them one by one");
}

TEST(DeviceAssignment, IsReadAsItIsWritten) {
  std::vector<int64_t> ids = {5, 4, 300, 2, 1, 0};
  std::string bytes = serializeDeviceAssignment(3, 2, ids);
  auto options = CompileOptions::parse(field(3, "\x20\x03\x28\x02" + field(9, bytes)));
  ASSERT_TRUE(options) << options.error().text();
  EXPECT_EQ(options->deviceIds, ids);
}

} // namespace
} // namespace torchere::pjrt
