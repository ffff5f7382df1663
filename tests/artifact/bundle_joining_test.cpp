// Several programs as one bundle: names, what is shared, what is refused.
#include "artifact/bundle_joining.h"

#include "sample_bundle.h"

#include <gtest/gtest.h>

namespace torchere::artifact {

using namespace program;

namespace {

struct Named {
  std::string name;
  Weight weight;
  bool isWritten = false;
};

/// A program that takes and writes buffers.
Bundle programOf(std::string function, std::vector<Named> weights) {
  Bundle bundle;
  Function made;
  made.entryPoint.name = std::move(function);
  made.text = "module {}";
  for (Named &named : weights) {
    std::vector<SymInt> shape(named.weight.shape.begin(), named.weight.shape.end());
    made.entryPoint.inputs.push_back(
        {InputSource::Buffer, named.name, -1, {named.weight.dtype, shape}, false});
    if (named.isWritten)
      made.entryPoint.outputs.push_back(
          {OutputDestination::Buffer, "new", named.name, -1, {named.weight.dtype, shape}, false});
    named.weight.name = named.name;
    bundle.stateDict.emplace(named.name, named.weight);
  }
  const char *tree =
      R"({"children":[{"children":[],"kind":"tuple"},{"children":[],"keys":[],"kind":"dict"}],)"
      R"("kind":"tuple"})";
  made.entryPoint.inputTree = {tree, tree};
  made.entryPoint.outputTree = {R"({"children":[],"kind":"tuple"})", ""};
  bundle.functions.push_back(std::move(made));
  return bundle;
}

Weight vectorOf(std::shared_ptr<const Storage> storage, int64_t count, int64_t offset = 0) {
  return makeWeight("", DType::F32, {count}, {1}, std::move(storage), offset);
}

std::vector<std::string> namesOf(const Bundle &bundle) {
  std::vector<std::string> names;
  for (const auto &[name, weight] : bundle.stateDict)
    names.push_back(name);
  std::ranges::sort(names);
  return names;
}

using List = std::vector<std::string>;

} // namespace

TEST(JoinBundles, KeepsNamesThatStandForOneWeight) {
  auto storage = floatStorage(4);
  auto joined =
      joinBundles({programOf("encode", {{"w", vectorOf(storage, 4)}}),
                   programOf("decode", {{"w", vectorOf(storage, 4)}, {"v", vectorOf(storage, 4)}})});
  ASSERT_TRUE(joined.has_value()) << joined.error().message;
  EXPECT_EQ(namesOf(*joined), (List{"v", "w"}));
  EXPECT_EQ(joined->functions[1].entryPoint.inputs[1].name, "v");
}

TEST(JoinBundles, QualifiesTheNamesOfProgramsWithOtherWeights) {
  auto one = floatStorage(4), other = floatStorage(4);
  Weight bias = vectorOf(floatStorage(2), 2), scale = vectorOf(floatStorage(1), 1);
  auto joined =
      joinBundles({programOf("encode", {{"w", vectorOf(one, 4)}}),
                   programOf("decode", {{"w", vectorOf(other, 4), true}, {"bias", bias}}),
                   programOf("again", {{"w", vectorOf(other, 4)}}), programOf("scale", {{"scale", scale}})});
  ASSERT_TRUE(joined.has_value()) << joined.error().message;
  EXPECT_EQ(namesOf(*joined), (List{"decode.bias", "decode.w", "encode.w", "scale"}));
  EXPECT_EQ(joined->functions[1].entryPoint.inputs[0].name, "decode.w");
  EXPECT_EQ(joined->functions[1].entryPoint.outputs[0].target, "decode.w");
  EXPECT_EQ(joined->functions[2].entryPoint.inputs[0].name, "decode.w");
  EXPECT_EQ(joined->functions[3].entryPoint.inputs[0].name, "scale");
}

TEST(JoinBundles, QualifiesConstantsOfOneName) {
  Bundle one = programOf("one", {}), two = programOf("two", {}), three = programOf("three", {});
  auto add = [](Bundle &bundle, float start) {
    bundle.constants.push_back(makeWeight("c", DType::F32, {4}, {1}, floatStorage(4, start)));
    bundle.functions[0].entryPoint.inputs.push_back(
        {InputSource::Constant, "c", 0, {DType::F32, {4}}, false});
  };
  add(one, 0);
  add(two, 5);
  add(three, 0);
  auto joined = joinBundles({one, two, three});
  ASSERT_TRUE(joined.has_value()) << joined.error().message;
  ASSERT_EQ(joined->constants.size(), 2u);
  EXPECT_EQ(joined->constants[0].name, "c");
  EXPECT_EQ(joined->constants[1].name, "two.c");
  EXPECT_EQ(joined->functions[1].entryPoint.inputs[0].position, 1);
  EXPECT_EQ(joined->functions[2].entryPoint.inputs[0].position, 0);
}

TEST(JoinBundles, SharesTheRandomNumbersAndTheWeightsWithoutData) {
  auto nothing = std::make_shared<const Storage>(Storage{nullptr, nullptr, 16});
  auto alike = std::make_shared<const Storage>(Storage{nullptr, nullptr, 16});
  auto joined = joinBundles(
      {programOf("a", {{"w", vectorOf(nothing, 4)}}), programOf("b", {{"w", vectorOf(nothing, 4)}})});
  EXPECT_EQ(namesOf(*joined), List{"w"});
  joined = joinBundles(
      {programOf("a", {{"w", vectorOf(nothing, 4)}}), programOf("b", {{"w", vectorOf(alike, 4)}})});
  EXPECT_EQ(namesOf(*joined), (List{"a.w", "b.w"}));
}

TEST(JoinBundles, RefusesAnotherViewOfAState) {
  auto storage = floatStorage(4);
  Bundle writer = programOf("fill", {{"cache", vectorOf(storage, 4), true}});
  Bundle reader = programOf("read", {{"row", vectorOf(storage, 2, 1)}});
  auto joined = joinBundles({writer, reader});
  ASSERT_FALSE(joined.has_value());
  EXPECT_EQ(joined.error().message,
            "[row] function \"read\" has it as another view of memory that \"fill\" writes as \"cache\": "
            "expected the same view, or memory of its own");
  EXPECT_FALSE(joinBundles({reader, writer}).has_value());
  // A writer that knows the view updates it.
  writer =
      programOf("fill", {{"cache", vectorOf(storage, 4), true}, {"part", vectorOf(storage, 2, 1), true}});
  EXPECT_TRUE(joinBundles({writer, reader}).has_value());
  EXPECT_TRUE(joinBundles({programOf("fill", {{"cache", vectorOf(storage, 2), true}}),
                           programOf("read", {{"row", vectorOf(storage, 2, 2)}})})
                  .has_value());
}

TEST(JoinBundles, RefusesTwoFunctionsOfOneName) {
  auto joined = joinBundles({programOf("a", {}), programOf("a", {})});
  EXPECT_EQ(joined.error().message, "[bundle] two functions are called \"a\"");
}

} // namespace torchere::artifact
