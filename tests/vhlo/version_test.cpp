// Versions: their text, and which can be written.
#include "vhlo/version.h"

#include <gtest/gtest.h>

namespace torchere::vhlo {

TEST(Version, ReadsThreeNumbers) {
  auto version = Version::parse("1.13.7");
  ASSERT_TRUE(version);
  EXPECT_EQ(*version, (Version{1, 13, 7}));
  EXPECT_EQ(version->text(), "1.13.7");
  EXPECT_EQ(version->opset(), (Version{1, 13, 0}));
}

TEST(Version, RefusesAnythingElse) {
  for (const char *text : {"", "1", "1.2", "1.2.3.4", "1.2.x", "-1.2.3", "1.-2.3", "1..2", "v1.2.3", "1.2.3 ",
                           " 1.2.3", "99999999999.0.0"}) {
    auto version = Version::parse(text, "--target");
    ASSERT_FALSE(version) << text;
    EXPECT_EQ(version.error().message, std::string("[--target] not a StableHLO version: got \"") + text +
                                           "\", expected three numbers as in \"1.16.0\"");
  }
}

TEST(Version, TargetsAreBounded) {
  EXPECT_TRUE(checkTarget(minimumVersion));
  EXPECT_TRUE(checkTarget(currentVersion));
  EXPECT_TRUE(checkTarget({1, 20, 3})); // a patch changes nothing that a program may hold
  for (Version version : {Version{0, 8, 9}, Version{1, 21, 0}, Version{2, 0, 0}}) {
    Status status = checkTarget(version);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().message, "[target_version] StableHLO " + version.text() +
                                          " cannot be written: expected 0.9.0 to 1.20.0");
  }
}

TEST(Version, TheTargetForAReaderIsAboveNeither) {
  EXPECT_EQ(*targetFor({1, 13, 7}), (Version{1, 13, 0}));
  EXPECT_EQ(*targetFor({3, 1, 0}), currentVersion);
  EXPECT_FALSE(targetFor({0, 3, 0}));
}

TEST(Version, BytecodeVersions) {
  EXPECT_EQ(bytecodeVersion({0, 9, 0}), 0);
  EXPECT_EQ(bytecodeVersion({0, 10, 0}), 1);
  EXPECT_EQ(bytecodeVersion({0, 11, 5}), 1);
  EXPECT_EQ(bytecodeVersion({0, 12, 0}), 3);
  EXPECT_EQ(bytecodeVersion({0, 14, 0}), 4);
  EXPECT_EQ(bytecodeVersion({0, 15, 0}), 6);
  EXPECT_EQ(bytecodeVersion(currentVersion), 6);
}

} // namespace torchere::vhlo
