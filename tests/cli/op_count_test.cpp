// Op counts: ops in both forms, with any number of results; nothing that merely looks like one.
#include "cli/op_count.h"

#include <gtest/gtest.h>

namespace torchere::cli {
namespace {

TEST(CountOps, CountsBothFormsAndNoMentions) {
  std::string text = R"(module @m attributes {note = "stablehlo.add"} {
  func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    // stablehlo.add in a comment
    %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>
    %1:2 = "stablehlo.reduce"(%0, %0) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %2 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %2, %2 : tensor<f32>, tensor<f32>
    }) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<f32>)
    %3 = stablehlo.composite "my.add" %0 {decomposition = @add} : (tensor<4xf32>) -> tensor<4xf32>
    %4 = chlo.erf %3 : tensor<4xf32> -> tensor<4xf32>
    stablehlo.custom_call @print(%4) : (tensor<4xf32>) -> ()
    %5 = call @add(%4) : (tensor<4xf32>) -> tensor<4xf32>
    return %5 : tensor<4xf32>
  }
})";
  std::map<std::string, size_t> expected = {{"stablehlo.add", 2},
                                            {"stablehlo.reduce", 1},
                                            {"stablehlo.composite", 1},
                                            {"chlo.erf", 1},
                                            {"stablehlo.custom_call", 1}};
  EXPECT_EQ(countOps(text), expected);
  EXPECT_TRUE(countOps("").empty());
}

} // namespace
} // namespace torchere::cli
