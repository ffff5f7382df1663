// The exporter on graphs that no torch has made.
#include "exporter/exporter.h"
#include "program/builder.h"

#include <gtest/gtest.h>

namespace torchere::exporter {
namespace {

/// What exporting says of a program that returns a `_operator.getitem` of these arguments.
std::string errorOfGetItem(std::vector<program::Argument> arguments) {
  program::Builder builder;
  program::GraphBuilder graph = builder.main();
  program::Type type = builder.tensorType(DType::F32, {});
  program::NodeId item = *graph.call("_operator.getitem", "", arguments, {}, type, {.name = "item"});
  graph.setOutputs({{program::Argument{program::NodeReference{item}}}});
  if (Status status = builder.addOutput(program::OutputKind::UserOutput, ""); !status)
    return status.error().message;
  Result<Exported> exported = exportProgram(builder.finish());
  return exported ? "" : exported.error().message;
}

TEST(GraphLowererTest, CountsTheArgumentsOfGetItem) {
  EXPECT_EQ(errorOfGetItem({}), "[_operator.getitem] wrong number of arguments of 'item': got 0, expected 2");
  EXPECT_EQ(errorOfGetItem({program::Argument{int64_t{0}}}),
            "[_operator.getitem] wrong number of arguments of 'item': got 1, expected 2");
}

TEST(GraphLowererTest, ItemsAreTakenFromLists) {
  program::Argument number{int64_t{0}};
  EXPECT_EQ(errorOfGetItem({number, number}),
            "[_operator.getitem] 'item' does not take an element of a list of results");
}

} // namespace
} // namespace torchere::exporter
