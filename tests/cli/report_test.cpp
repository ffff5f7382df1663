// Report: sizes as people read them.
#include "cli/report.h"

#include <gtest/gtest.h>

namespace torchere::cli {
namespace {

TEST(ByteSizeText, UsesPowersOfAThousand) {
  EXPECT_EQ(byteSizeText(0), "0 B");
  EXPECT_EQ(byteSizeText(999), "999 B");
  EXPECT_EQ(byteSizeText(1000), "1.0 kB");
  EXPECT_EQ(byteSizeText(999949), "999.9 kB");
  EXPECT_EQ(byteSizeText(999950), "1.0 MB");
  EXPECT_EQ(byteSizeText(46830571), "46.8 MB");
  EXPECT_EQ(byteSizeText(2147483648), "2.1 GB");
  EXPECT_EQ(byteSizeText(UINT64_MAX), "18.4 EB");
}

} // namespace
} // namespace torchere::cli
