// What of a bundle a SavedModel consists of.
#include "artifact/saved_model/model.h"
#include "sample_bundle.h"

#include <gtest/gtest.h>

namespace torchere::artifact::saved_model {
namespace {

using namespace program;

/// forward(x: f32[3]) -> x, which writes x to the state as well.
Bundle writingBundle(Weight state) {
  EntryPoint entry;
  entry.inputs = {{InputSource::UserInput, "x", 0, {DType::F32, {3}}, false}};
  entry.outputs = {{OutputDestination::Buffer, "copy", "state", -1, {DType::F32, {3}}, false},
                   {OutputDestination::UserOutput, "x", "", 0, {DType::F32, {3}}, false}};
  entry.userInputCount = entry.userOutputCount = 1;
  Bundle bundle;
  bundle.functions.push_back({std::move(entry),
                              "func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, "
                              "tensor<3xf32>) { return %x, %x : tensor<3xf32>, tensor<3xf32> }"});
  bundle.stateDict.emplace("state", std::move(state));
  return bundle;
}

TEST(ModelTest, WhatIsWrittenIsAVariable) {
  Bundle bundle = writingBundle(makeWeight("state", DType::F32, {3}, {1}, floatStorage(3)));
  Result<Model> model = modelOf(bundle, "predict", "");
  ASSERT_TRUE(model) << model.error().text();
  ASSERT_EQ(model->variables.size(), 1u);
  EXPECT_EQ(model->variables[0].name, "state");
  const SavedFunction &function = model->functions[0];
  EXPECT_EQ(function.signatureKey, "predict");
  ASSERT_EQ(function.assignments.size(), 1u);
  EXPECT_EQ(function.assignments[0].result, 0u);
  ASSERT_EQ(function.outputs.size(), 1u);
  EXPECT_EQ(function.outputs[0].name, "output_0");
}

TEST(ModelTest, RefusesAStateOfAnotherType) {
  Bundle bundle = writingBundle(makeWeight("state", DType::F32, {2}, {1}, floatStorage(2)));
  Result<Model> model = modelOf(bundle, "predict", "");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().message,
            "[state] function \"forward\" writes another type than the weight has: got float32 (3,)");
}

} // namespace
} // namespace torchere::artifact::saved_model
