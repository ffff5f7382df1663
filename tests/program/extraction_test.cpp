// Tests of extract(): parts of a program with their inputs, sizes, lists and graphs, and what is refused.
#include "program/builder.h"
#include "program/extraction.h"

#include "add_schema.h"

#include <gtest/gtest.h>

namespace torchere::program {

static constexpr std::string_view catSchema = "aten::cat(Tensor[] tensors, int dim=0) -> Tensor";
static constexpr std::string_view sizeSchema = "aten::sym_size.int(Tensor self, int dim) -> SymInt";

/// forward(self, w: "f32[2]", x: "f32[s0]", y: "f32[2]"):
///   add = aten.add.Tensor(w, y, alpha = 2); size = aten.sym_size.int(x, 0); cat = aten.cat([x, add], 0)
///   sum = aten.add.Tensor(cat, size)
static std::shared_ptr<const Program> makeConcatenation() {
  Builder builder;
  Program &program = builder.program();
  SymInt open = program.expressions.symbol("s0"), two(2);
  Type fixed = builder.tensorType(DType::F32, {&two, 1}),
       dynamic = builder.tensorType(DType::F32, {&open, 1});
  GraphBuilder graph = builder.main();
  graph.placeholder(fixed, builder.label({.name = "w"}));
  graph.placeholder(dynamic, builder.label({.name = "x"}));
  graph.placeholder(fixed, builder.label({.name = "y"}));
  Argument added[] = {reference(0), reference(2)};
  KeywordArgument alpha{"alpha", {int64_t(2)}};
  (void)graph.call("aten.add.Tensor", addSchema, added, {&alpha, 1}, fixed, {.name = "add"}).value();
  Argument sized[] = {reference(1), {int64_t(0)}};
  Type number = builder.type(SymIntType{open});
  (void)graph.call("aten.sym_size.int", sizeSchema, sized, {}, number, {.name = "size"}).value();
  Argument parts[] = {reference(1), reference(3)};
  Argument joined[] = {builder.list(parts), {int64_t(0)}};
  (void)graph.call("aten.cat.default", catSchema, joined, {}, dynamic, {.name = "cat"}).value();
  Argument summed[] = {reference(5), reference(4)}, output = reference(6);
  (void)graph.call("aten.add.Tensor", addSchema, summed, {}, dynamic, {.name = "sum"}).value();
  graph.setOutputs({&output, 1});
  program.inputs = {{InputKind::Parameter, "w", "layer.weight", true, std::nullopt},
                    {InputKind::UserInput, "x", "", true, std::nullopt},
                    {InputKind::UserInput, "y", "", true, std::nullopt}};
  EXPECT_TRUE(builder.addOutput(OutputKind::UserOutput, ""));
  return std::make_shared<const Program>(builder.finish());
}

static Result<std::shared_ptr<Program>> extracted(std::vector<NodeId> outputs, std::vector<NodeId> inputs) {
  return extract(makeConcatenation(), outputs, inputs);
}

/// The head of the text, without the lines about sources.
static std::string graphText(const Program &program) {
  std::string text = program.print(), kept;
  for (size_t begin = 0; begin < text.find("Graph signature");) {
    size_t end = text.find('\n', begin);
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.find("def forward") != std::string::npos || line.find(" = torch.ops") != std::string::npos)
      kept += line.substr(line.find_first_not_of(' ')) + "\n";
  }
  return kept;
}

TEST(Extraction, KeepsWhatTheOutputsNeed) {
  std::shared_ptr<Program> part = extracted({3}, {}).value();
  EXPECT_TRUE(part->verify());
  EXPECT_EQ(graphText(*part),
            "def forward(self, w: \"f32[2]\", x: \"f32[s0]\", y: \"f32[2]\"):\n"
            "add: \"f32[2]\" = torch.ops.aten.add.Tensor(w, y, alpha = 2);  w = y = None\n");
  EXPECT_EQ(part->inputs[0].kind, InputKind::UserInput); // weights are inputs; x is there for its size
}

TEST(Extraction, BeginsAtItsInputs) {
  std::shared_ptr<Program> part = extracted({6}, {3, 1}).value();
  EXPECT_TRUE(part->verify());
  EXPECT_EQ(graphText(*part),
            "def forward(self, add: \"f32[2]\", x: \"f32[s0]\"):\n"
            "size: \"Sym(s0)\" = torch.ops.aten.sym_size.int(x, 0)\n"
            "cat: \"f32[s0]\" = torch.ops.aten.cat.default([x, add], 0);  x = add = None\n"
            "sum: \"f32[s0]\" = torch.ops.aten.add.Tensor(cat, size);  cat = size = None\n");
  std::shared_ptr<Program> last = extracted({6, 5}, {5}).value(); // an input may be an output
  EXPECT_TRUE(last->verify());
  EXPECT_EQ(last->outputs.size(), 2u);
}

TEST(Extraction, PartsAreKnownByTheirHash) {
  StructuralHash hash = extracted({3}, {0, 2}).value()->structuralHash();
  EXPECT_EQ(hash, extracted({3}, {0, 2}).value()->structuralHash());
  EXPECT_NE(hash, extracted({3}, {2, 0}).value()->structuralHash()); // alpha is the other one's
}

TEST(Extraction, RefusesNodesThatAreNotThere) {
  EXPECT_EQ(extracted({7}, {}).error().message, "[extract] no such node: got 7, expected one below 7");
  EXPECT_EQ(extracted({6}, {5, 5}).error().message,
            "[extract] 'cat' cannot be an input: expected a tensor or an int, once");
}

} // namespace torchere::program
