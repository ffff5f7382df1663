// The composites that inspect lists: equal ones counted, whatever their attributes hold.
#include "cli/composite_list.h"

#include <gtest/gtest.h>

namespace torchere::cli {
namespace {

TEST(ListComposites, CountsThoseOfOneNameAndEqualAttributes) {
  std::string text = R"mlir(
    // stablehlo.composite "my.comment" %0
    %0 = stablehlo.composite "my.plain" %arg0 {decomposition = @a} : (tensor<4xf32>) -> tensor<4xf32>
    %1:2 = stablehlo.composite "my.op" %0 {composite_attributes = {s = "}{\"", d = {x = 1 : i64}}, decomposition = @b} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %2:2 = stablehlo.composite "my.op" %0 {composite_attributes = {s = "}{\"", d = {x = 1 : i64}}, decomposition = @c} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %3 = stablehlo.composite "my.op" %0 {composite_attributes = {s = ""}, decomposition = @b} : (tensor<4xf32>) -> tensor<4xf32>
    %4 = stablehlo.custom_call @t(%0) {note = "stablehlo.composite \"x.y\""} : (tensor<4xf32>) -> tensor<4xf32>
)mlir";
  std::vector<ListedComposite> list = listComposites(text);
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[0].name, "my.plain");
  EXPECT_EQ(list[0].attributes, "");
  EXPECT_EQ(list[1].attributes, R"(s = "}{\"", d = {x = 1 : i64})");
  EXPECT_EQ(list[1].count, 2U);
  EXPECT_EQ(list[2].attributes, R"(s = "")");
}

TEST(ListComposites, ToleratesAnyText) {
  for (const char *text : {"stablehlo.composite \"", "stablehlo.composite \"a\\",
                           "%0 = ", "stablehlo.composite \"a\" {composite_attributes = {x = \""})
    EXPECT_LE(listComposites(text).size(), 1U);
}

} // namespace
} // namespace torchere::cli
