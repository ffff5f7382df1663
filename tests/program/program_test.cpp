// Tests of Program: its text, its verifier's messages, places of nodes and the geometry of weights.
#include "program/builder.h"

#include "add_schema.h"

#include <gtest/gtest.h>

namespace torchere::program {

/// forward(self, w: "f32[2]", x: "f32[s0]"): add = aten.add.Tensor(x, w, alpha = 2); return (add,)
static void fill(Builder &builder) {
  Program &program = builder.program();
  SymInt size = program.expressions.symbol("s0");
  SymInt two(2), one(1);
  Type type = builder.tensorType(DType::F32, {&size, 1}, {&one, 1});
  GraphBuilder graph = builder.main();
  graph.placeholder(builder.tensorType(DType::F32, {&two, 1}, {&one, 1}), builder.label({.name = "w"}));
  graph.placeholder(type, builder.label({.name = "x"}));
  builder.addStackTrace("File \"/home/user/model.py\", line 31, in forward\n    return self.layer(x)\n"
                        "  File \"/lib/site-packages/torch/nn/modules/layer.py\", line 7, in forward\n"
                        "    return x + self.weight");
  builder.addModuleStack({{"", "model.Net"}, {"encoder.layer", "torch.nn.Layer"}});
  Argument operands[] = {reference(1), reference(0)}, output = reference(2);
  KeywordArgument alpha{"alpha", {int64_t(2)}};
  Label label{"add", 1, 1, {}};
  EXPECT_EQ(graph.call("aten.add.Tensor", addSchema, operands, {&alpha, 1}, type, label).value(), 2u);
  graph.setOutputs({&output, 1});
  program.inputs = {{InputKind::Parameter, "w", "layer.weight", true, std::nullopt},
                    {InputKind::UserInput, "x", "", true, std::nullopt}};
  EXPECT_TRUE(builder.addOutput(OutputKind::UserOutput, ""));
  program.rangeConstraints = {{size, {2, std::numeric_limits<int64_t>::max()}}};
  auto storage = std::make_shared<Storage>(Storage{nullptr, nullptr, 8});
  program.stateDict["layer.weight"] = {"layer.weight", DType::F32, {2}, {1}, 0, storage};
}

static Program makeProgram() {
  Builder builder;
  fill(builder);
  return builder.finish();
}

TEST(ProgramText, ShowsGraphSignatureAndRanges) {
  EXPECT_EQ(makeProgram().print(),
            "ExportedProgram:\n"
            "    class GraphModule(torch.nn.Module):\n"
            "        def forward(self, w: \"f32[2]\", x: \"f32[s0]\"):\n"
            "            # File: /lib/site-packages/torch/nn/modules/layer.py:7 in forward, code: return x + "
            "self.weight\n"
            "            add: \"f32[s0]\" = torch.ops.aten.add.Tensor(x, w, alpha = 2);  x = w = None\n"
            "            return (add,)\n"
            "    \n"
            "Graph signature: \n"
            "    # inputs\n"
            "    w: PARAMETER target='layer.weight'\n"
            "    x: USER_INPUT\n"
            "    \n"
            "    # outputs\n"
            "    add: USER_OUTPUT\n"
            "    \n"
            "Range constraints: {s0: VR[2, int_oo]}\n");
}

/// The text of one argument of the node `add`.
static std::string argumentText(Constant constant) {
  Builder builder;
  fill(builder);
  Argument argument = builder.constant(std::move(constant));
  builder.main().call(builder.program().ops->intern("f", std::vector<std::string>{"0"}), {&argument, 1}, {});
  std::string text = builder.finish().print();
  size_t start = text.find("= f(") + 4;
  return text.substr(start, text.find(");", start) - start);
}

TEST(ProgramText, ShowsArgumentsAsPythonDoes) {
  EXPECT_EQ(argumentText({}), "None");
  EXPECT_EQ(argumentText({true}), "True");
  EXPECT_EQ(argumentText({1.0}), "1.0");
  EXPECT_EQ(argumentText({1e-5}), "1e-05");
  EXPECT_EQ(argumentText({0.0001}), "0.0001");
  EXPECT_EQ(argumentText({123456789012345680.0}), "1.2345678901234568e+17");
  EXPECT_EQ(argumentText({-0.0}), "-0.0");
  EXPECT_EQ(argumentText({0.1}), "0.1");
  EXPECT_EQ(argumentText({-std::numeric_limits<double>::infinity()}), "-inf");
  EXPECT_EQ(argumentText({std::complex<double>(1, -2)}), "(1-2j)");
  EXPECT_EQ(argumentText({std::complex<double>(0, 0.5)}), "0.5j");
  EXPECT_EQ(argumentText({std::string("it's\n")}), "\"it's\\n\"");
  EXPECT_EQ(argumentText({std::string("both ' and \"")}), "'both \\' and \"'");
  EXPECT_EQ(argumentText({DType::BF16}), "torch.bfloat16");
  EXPECT_EQ(argumentText({Device{"cuda:1"}}), "device(type='cuda', index=1)");
  EXPECT_EQ(argumentText({Device{"cpu"}}), "device(type='cpu')");
  EXPECT_EQ(argumentText({Layout{"strided"}}), "torch.strided");
  EXPECT_EQ(argumentText({MemoryFormat{"channels_last"}}), "torch.channels_last");
  EXPECT_EQ(argumentText({OpReference{"aten.sin.default"}}), "torch.ops.aten.sin.default");
  EXPECT_EQ(argumentText({Constant::List{{int64_t(1)}, {}}}), "[1, None]");
  EXPECT_EQ(argumentText({Constant::List{{std::string("a")}}, true}), "('a',)");
}

TEST(ProgramText, ShowsOperatorsAndDeletesUnusedValues) {
  Builder builder;
  fill(builder);
  Argument operands[] = {reference(2), {int64_t(3)}};
  ASSERT_TRUE(builder.main().call("_operator.mul", "", operands, {}, builder.type(SymIntType{3}),
                                  Label{"mul", 1, 0, {}}));
  EXPECT_NE(builder.finish().print().find("\n            mul: \"Sym(3)\" = add * 3;  mul = None\n"),
            std::string::npos);
}

TEST(ProgramText, NamesNodesWithoutLabelsByTheirNumber) {
  Builder builder;
  GraphBuilder graph = builder.main();
  graph.placeholder({});
  const Op *add = builder.program().ops->intern("aten.add.Tensor", addSchema).value();
  Argument operands[] = {reference(0), {2.0}, {int64_t(3)}}, output = reference(1);
  graph.call(add, operands, {});
  graph.setOutputs({&output, 1}, /*isBare=*/true);
  EXPECT_NE(builder.finish().print().find(
                "def forward(self, v0):\n            # No stacktrace found for following nodes\n"
                "            v1 = torch.ops.aten.add.Tensor(v0, 2.0, alpha = 3);  v0 = None\n"
                "            return v1\n"),
            std::string::npos);
}

TEST(ProgramPlace, NamesTheUsersLineAndModule) {
  Program program = makeProgram();
  Node &node = program.graph.nodes[2];
  EXPECT_EQ(program.place(node), "model.py:31 in encoder.layer");
  Label label = *node.label;
  node.label = &label;
  label.moduleStack = 0;
  EXPECT_EQ(program.place(node), "model.py:31");
  program.stackTraces[1] = "File \"torch/fx/passes/runtime_assert.py\", line 24, in insert\n    x";
  EXPECT_EQ(program.place(node), "");
  label.moduleStack = 1;
  EXPECT_EQ(program.place(node), "encoder.layer");
  program.stackTraces[1] =
      "File \"<eval_with_key>.1\", line 9, in forward\n    x\nFile \"no number\", line , in f\n  x";
  EXPECT_EQ(program.place(node), "encoder.layer");
  node.label = nullptr;
  EXPECT_EQ(program.place(node), "");
}

static std::string verifyError(const Program &program) {
  Status status = program.verify();
  return status ? "no error" : status.error().text();
}

TEST(ProgramVerifier, AcceptsAProgram) {
  EXPECT_EQ(verifyError(makeProgram()), "no error");
}

TEST(ProgramVerifier, NamesTheNodeThatIsWrong) {
  Program program = makeProgram();
  Argument self = reference(2);
  ArgumentList elements{&self, 1, false};
  Argument list{&elements};
  auto errorWith = [&](Argument other) {
    Argument arguments[] = {reference(1), other};
    program.graph.nodes[2].arguments = arguments;
    program.graph.nodes[2].label = program.memory.store(Label{.name = "add"});
    return verifyError(program);
  };
  EXPECT_EQ(errorWith(list), "[add] argument 'other' is not computed yet: got node 2, expected one below 2");
  EXPECT_EQ(errorWith({GraphReference{0}}),
            "[add] argument 'other' is no graph: got 0, expected one below 0");

  program = makeProgram();
  program.graph.outputs = {reference(9)};
  EXPECT_EQ(verifyError(program),
            "[forward] argument 'output' is not computed yet: got node 9, expected one below 3");

  program = makeProgram();
  std::swap(program.graph.nodes[1], program.graph.nodes[2]);
  program.graph.nodes[1].arguments = {};
  program.graph.nodes[1].label = nullptr;
  EXPECT_EQ(verifyError(program), "[x] a placeholder after other nodes: got node 2, expected all before");

  program = makeProgram();
  Label label{"add", 5, 1, {}};
  program.graph.nodes[2].label = &label;
  EXPECT_EQ(verifyError(program), "[add] unknown stack: got trace 5 and modules 1, expected below 2 and 2");
  uint16_t position = 3;
  label = {"add", 0, 0, {&position, 1}};
  EXPECT_EQ(verifyError(program), "[add] unknown keyword: got position 3, expected below 3");
  label.keywords = {};
  std::vector<Argument> many(4);
  program.graph.nodes[2].arguments = many;
  EXPECT_EQ(verifyError(program), "[add] too many arguments: got 4, expected at most 3");
  program.graph.nodes[2].callee = nullptr;
  EXPECT_EQ(verifyError(program), "[add] a node that calls nothing: got no op");

  program = makeProgram();
  Type::Data type = SymIntType{SymInt::expression(4)};
  program.graph.nodes[2].type = Type(&type);
  EXPECT_EQ(verifyError(program), "[add] unknown expression in the type: got 4, expected one below 1");

  program = makeProgram();
  program.graph.children = {0};
  EXPECT_EQ(verifyError(program), "[forward] unknown child graph: got 0, expected 0 to 0");
}

TEST(ProgramVerifier, RefusesGraphsThatHoldThemselves) {
  Program program = makeProgram();
  program.subgraphs.resize(1);
  program.subgraphs[0].name = "body";
  program.subgraphs[0].children = {0};
  EXPECT_EQ(verifyError(program), "[body] unknown child graph: got 0, expected 1 to 1");
}

TEST(ProgramVerifier, RefusesANodeThatNamesAGraphOfAnother) {
  Builder builder;
  fill(builder);
  GraphBuilder body = builder.addSubgraph(builder.main(), "body");
  GraphBuilder other = builder.addSubgraph(builder.main(), "other");
  body.graph("inner_graph_0", other, builder.label({.name = "inner"}));
  Program program = builder.finish();
  EXPECT_EQ(verifyError(program), "[inner] names no graph: expected one of the 0 that 'body' holds");
  program.subgraphs[0].children = {1};
  EXPECT_EQ(verifyError(program), "no error");
  program.subgraphs[0].nodes[0].arguments = {};
  EXPECT_EQ(verifyError(program), "[inner] names no graph: expected one of the 1 that 'body' holds");
}

TEST(ProgramVerifier, ComparesTheSignatureWithTheGraph) {
  Program program = makeProgram();
  program.inputs.pop_back();
  EXPECT_EQ(verifyError(program), "[signature] every placeholder needs an input spec: got 1, expected 2");

  program = makeProgram();
  program.inputs[1].name = "y";
  EXPECT_EQ(verifyError(program),
            "[signature] input spec 1 names another placeholder: got 'y', expected 'x'");

  program = makeProgram();
  program.outputs.clear();
  EXPECT_EQ(verifyError(program), "[signature] every output needs a spec: got 0, expected 1");

  program = makeProgram();
  program.stateDict.clear();
  EXPECT_EQ(verifyError(program),
            "[w] the weight is missing: got no 'layer.weight' in the state dict or constants");
}

TEST(ProgramVerifier, KeepsWeightsInsideTheirStorages) {
  auto errorOf = [](std::vector<int64_t> shape, std::vector<int64_t> strides, int64_t offset) {
    Program program = makeProgram();
    Weight &weight = program.stateDict["layer.weight"];
    weight.shape = std::move(shape);
    weight.strides = std::move(strides);
    weight.storageOffset = offset;
    return verifyError(program);
  };
  EXPECT_EQ(errorOf({2}, {1}, 1),
            "[weight 'layer.weight'] reaches outside its storage: got element 2, expected below 2");
  EXPECT_EQ(errorOf({2, 1}, {1}, 0), "[weight 'layer.weight'] rank of the strides: got 1, expected 2");
  EXPECT_EQ(errorOf({-2}, {1}, 0),
            "[weight 'layer.weight'] negative size or stride in dimension 0: got -2 and 1");
  int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(errorOf({most, most}, {most, 1}, 0),
            "[weight 'layer.weight'] reaches outside its storage: got element "
            "of more than 64 bits, expected below 2");
  EXPECT_EQ(errorOf({0, 5}, {5, 1}, 7), "no error");
  EXPECT_EQ(errorOf({1}, {1}, -1), "[weight 'layer.weight'] negative storage offset: got -1");
  Program program = makeProgram();
  program.stateDict["layer.weight"].storage = nullptr;
  EXPECT_EQ(verifyError(program), "[weight 'layer.weight'] no storage");
}

TEST(Weight, KnowsItsGeometry) {
  auto weight = [](std::vector<int64_t> shape, std::vector<int64_t> strides) {
    return Weight{"w", DType::F32, std::move(shape), std::move(strides), 0, nullptr};
  };
  EXPECT_EQ(weight({2, 3}, {3, 1}).elementCount(), 6);
  EXPECT_EQ(weight({}, {}).elementCount(), 1);
  EXPECT_TRUE(weight({2, 3}, {3, 1}).isContiguous());
  EXPECT_TRUE(weight({2, 1, 3}, {3, 77, 1}).isContiguous());
  EXPECT_TRUE(weight({0, 3}, {1, 1}).isContiguous());
  EXPECT_FALSE(weight({2, 3}, {1, 2}).isContiguous());
  std::vector<float> values = {1, 2, 3};
  auto storage =
      std::make_shared<Storage>(Storage{nullptr, reinterpret_cast<const std::byte *>(values.data()), 12});
  Weight view{"w", DType::F32, {2}, {1}, 1, storage};
  EXPECT_EQ(*reinterpret_cast<const float *>(view.data()), 2);
}

} // namespace torchere::program
