// Programs in one file, from C++.
#include "../base/temporary_directory.h"
#include "artifact/bundle.h"
#include "artifact/verification.h"
#include "sample_bundle.h"

#include <gtest/gtest.h>

#include <fstream>

namespace torchere::artifact {

namespace fs = std::filesystem;

class Archive : public ::testing::Test {
protected:
  TemporaryDirectory root;
  fs::path target = root / "model.torchere";
};

TEST_F(Archive, HoldsWhatADirectoryHolds) {
  ASSERT_TRUE(save(sampleBundle(), target, {.withDigests = true}).has_value());
  ASSERT_TRUE(save(sampleBundle(), root / "directory").has_value());
  EXPECT_TRUE(fs::is_regular_file(target));
  auto loaded = load(target, {.verify = true}), other = load(root / "directory");
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  ASSERT_EQ(loaded->stateDict.size(), other->stateDict.size());
  EXPECT_EQ(loaded->functions[0].bytecode, other->functions[0].bytecode);
  for (const auto &[name, weight] : loaded->stateDict) {
    const program::Weight &same = other->stateDict.at(name);
    ASSERT_EQ(weight.shape, same.shape);
    size_t size = static_cast<size_t>(weight.elementCount()) * byteSize(weight.dtype);
    EXPECT_EQ(std::memcmp(weight.data(), same.data(), size), 0) << name;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(weight.data()) % 64, 0u) << name;
  }
  EXPECT_EQ(loaded->stateDict.at("head.weight").data(), loaded->stateDict.at("tail.weight").data());
}

TEST_F(Archive, StaysWhatItWasWhenItIsReplaced) {
  ASSERT_TRUE(save(sampleBundle(), target).has_value());
  auto loaded = load(target);
  ASSERT_TRUE(loaded.has_value());
  float first = 0;
  std::memcpy(&first, loaded->stateDict.at("head.weight").data(), sizeof(first));
  Bundle changed = sampleBundle();
  auto storage = floatStorage(6, 100);
  changed.stateDict.at("head.weight").storage = changed.stateDict.at("tail.weight").storage = storage;
  changed.stateDict.at("head.weight").storageOffset = changed.stateDict.at("tail.weight").storageOffset = 0;
  ASSERT_TRUE(save(changed, target, {.overwrite = true}).has_value());
  float still = 0;
  std::memcpy(&still, loaded->stateDict.at("head.weight").data(), sizeof(still));
  EXPECT_EQ(still, first);
}

TEST_F(Archive, VerifiesItsFiles) {
  ASSERT_TRUE(save(sampleBundle(), target, {.withDigests = true}).has_value());
  auto findings = verifyFiles(target);
  ASSERT_TRUE(findings.has_value()) << findings.error().message;
  EXPECT_TRUE(statusOf(*findings, target).has_value());
  for (const FileFinding &finding : *findings)
    EXPECT_EQ(finding.state, FileState::Intact) << finding.name << finding.detail;
  ASSERT_TRUE(save(sampleBundle(), target, {.overwrite = true}).has_value());
  EXPECT_EQ(verifyFiles(target).error().message,
            "[" + target.string() +
                "] has no digests to compare with: expected a program that was saved with digests=True");
}

} // namespace torchere::artifact
