// Weights that are types alone: what is saved of them, and the data that they are given.
#include "artifact/weight_data.h"

#include "../base/temporary_directory.h"
#include "sample_bundle.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace torchere::artifact {
namespace {

namespace fs = std::filesystem;

class WeightData : public testing::Test {
protected:
  Bundle saveAndLoad(const Bundle &bundle) {
    Status status = save(bundle, target);
    EXPECT_TRUE(status.has_value()) << status.error().message;
    Result<Bundle> loaded = load(target);
    EXPECT_TRUE(loaded.has_value()) << loaded.error().message;
    return loaded ? *std::move(loaded) : Bundle();
  }
  std::string loadErrorAfter(const std::string &from, const std::string &to) {
    std::string text = root.get("p/manifest.json");
    size_t place = text.find(from);
    EXPECT_NE(place, std::string::npos) << from;
    root.put("p/manifest.json", text.replace(place, from.size(), to));
    Result<Bundle> loaded = load(target);
    return loaded ? "loaded" : loaded.error().message;
  }
  static std::string errorOf(const Bundle &bundle, const program::Weight &given) {
    Result<Bundle> made = withWeights(bundle, {given});
    return made ? "made" : made.error().message;
  }

  TemporaryDirectory root;
  fs::path target = root.path / "p";
};

const std::vector<std::string> taken = {"head.weight", "running_mean", "tail.weight"};

TEST_F(WeightData, OfAWholeBundleIsLeftOut) {
  Bundle bundle = sampleBundle();
  EXPECT_TRUE(namesWithoutData(bundle).empty());
  leaveWeightsOut(bundle);
  EXPECT_FALSE(bundle.hasWeights);
  EXPECT_EQ(namesWithoutData(bundle), taken);
  EXPECT_EQ(placeOf(bundle.stateDict.at("head.weight")), placeOf(bundle.stateDict.at("tail.weight")));
  EXPECT_NE(placeOf(bundle.stateDict.at("head.weight")), placeOf(bundle.stateDict.at("running_mean")));
  Bundle loaded = saveAndLoad(bundle);
  EXPECT_FALSE(loaded.hasWeights);
  EXPECT_FALSE(fs::exists(target / "data"));
  EXPECT_EQ(namesWithoutData(loaded), taken);
  EXPECT_EQ(loaded.stateDict.at("running_mean").dtype, DType::BF16);
  EXPECT_EQ(loaded.stateDict.at("block/unused").shape, (std::vector<int64_t>{3}));
}

TEST_F(WeightData, OfSomeIsSavedAndTheRestSupplied) {
  Bundle bundle = sampleBundle();
  leaveWeightsOut(bundle);
  Result<Bundle> some = withWeights(bundle, {sampleBundle().stateDict.at("running_mean")});
  ASSERT_TRUE(some.has_value()) << some.error().message;
  EXPECT_TRUE(some->hasWeights);
  EXPECT_EQ(namesWithoutData(bundle), taken); // it stays as it is
  Bundle loaded = saveAndLoad(*some);
  EXPECT_TRUE(fs::exists(target / "data/running_mean"));
  EXPECT_FALSE(fs::exists(target / "data/head.weight"));
  EXPECT_EQ(namesWithoutData(loaded), (std::vector<std::string>{"head.weight", "tail.weight"}));
  EXPECT_EQ(elementsOf(loaded.stateDict.at("running_mean")), std::string("\1\2\3\4\5\6\7\10"));
  std::vector<program::Weight> rest;
  for (std::string name : {"head.weight", "tail.weight"})
    rest.push_back(sampleBundle().stateDict.at(name));
  Result<Bundle> whole = withWeights(loaded, rest);
  ASSERT_TRUE(whole.has_value()) << whole.error().message;
  EXPECT_TRUE(namesWithoutData(*whole).empty());
}

TEST_F(WeightData, OfAConstantIsSupplied) {
  Bundle bundle = sampleBundle();
  program::Weight table = bundle.constants[0];
  bundle.constants[0].storage =
      std::make_shared<const program::Storage>(program::Storage{nullptr, nullptr, 16});
  Bundle loaded = saveAndLoad(bundle);
  EXPECT_FALSE(fs::exists(target / "constants/0"));
  EXPECT_EQ(namesWithoutData(loaded), (std::vector<std::string>{"c_table"}));
  Result<Bundle> whole = withWeights(loaded, {table});
  ASSERT_TRUE(whole.has_value()) << whole.error().message;
  EXPECT_EQ(elementsOf(whole->constants[0]), elementsOf(table));
}

TEST_F(WeightData, MustFit) {
  Bundle bundle = sampleBundle();
  auto storage = floatStorage(8);
  EXPECT_EQ(errorOf(bundle, makeWeight("head.weight", DType::F32, {3, 2}, {2, 1}, storage)),
            "[head.weight] wrong shape: got (3, 2), expected (2, 3)");
  EXPECT_EQ(errorOf(bundle, makeWeight("head.weight", DType::I32, {2, 3}, {3, 1}, storage)),
            "[head.weight] wrong dtype: got int32, expected float32");
  EXPECT_EQ(errorOf(bundle, makeWeight("c_table", DType::F32, {2}, {1}, storage)),
            "[c_table] wrong dtype: got float32, expected int64");
  EXPECT_EQ(errorOf(bundle, makeWeight("neck.weight", DType::F32, {2, 3}, {3, 1}, storage)),
            "[neck.weight] no such weight in the program: expected one of block/unused, c_table, "
            "head.weight, running_mean, tail.weight");
  EXPECT_EQ(errorOf(bundle, makeWeight("head.weight", DType::F32, {2, 3}, {9, 1}, storage)),
            "[head.weight] lies outside its storage: got a view of shape (2, 3) at offset 0, expected it "
            "within 8 elements");
}

TEST_F(WeightData, IsCheckedBeforeUse) {
  Bundle bundle = sampleBundle();
  leaveWeightsOut(bundle);
  Status status = checkHasData(bundle.stateDict.at("head.weight"), "head.weight");
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::FailedPrecondition);
  EXPECT_EQ(status.error().message,
            "[head.weight] has no data: the program was exported or saved without it, expected "
            "program.with_weights({\"head.weight\": ...}) before the call");
}

TEST_F(WeightData, OfAManifestIsNotTrusted) {
  Bundle bundle = sampleBundle();
  leaveWeightsOut(bundle);
  saveAndLoad(bundle);
  std::string file = (target / "manifest.json").string();
  EXPECT_EQ(loadErrorAfter("\"shape\":[3]", "\"shape\":[4611686018427387904,4]"),
            "[" + file + "] wrong shape: got (4611686018427387904, 4), expected one that fits in memory");
  EXPECT_EQ(loadErrorAfter("4611686018427387904,4", "-1"),
            "[" + file + "] wrong shape: got (-1,), expected one that fits in memory");
  EXPECT_EQ(loadErrorAfter("\"shape\":[-1]", "\"shape\":[0]"), "loaded");
  std::string differs = loadErrorAfter("\"name\":\"head.weight\",\"dtype\":\"float32\",\"shape\":[2,3],"
                                       "\"has_data\":false",
                                       "\"name\":\"head.weight\",\"dtype\":\"float32\",\"shape\":[2,3]");
  EXPECT_TRUE(
      differs.ends_with("\"tail.weight\" is the same as \"head.weight\", but only one of them has data"))
      << differs;
}

} // namespace
} // namespace torchere::artifact
