// Tests of Program: its text, its verifier's messages, places of nodes and the geometry of weights.
#include "program/program.h"

#include <gtest/gtest.h>

namespace torchere::program {

static Argument reference(NodeId node) {
  return Argument{NodeReference{node}};
}

/// forward(self, w: "f32[2]", x: "f32[s0]"): add = aten.add.Tensor(x, w, alpha = 2); return (add,)
static Program makeProgram() {
  Program program;
  SymInt size = program.expressions.symbol("s0");
  program.graph.name = "forward";
  program.graph.nodes = {
      {NodeKind::Placeholder, "w", "", {}, Type{TensorType{DType::F32, {2}, {1}, "cpu"}}, 0, 0},
      {NodeKind::Placeholder, "x", "", {}, Type{TensorType{DType::F32, {size}, {1}, "cpu"}}, 0, 0},
      {NodeKind::Call,
       "add",
       "aten.add.Tensor",
       {{"self", reference(1), false}, {"other", reference(0), false}, {"alpha", Argument{int64_t(2)}, true}},
       Type{TensorType{DType::F32, {size}, {1}, "cpu"}},
       1,
       1},
  };
  program.graph.outputs = {reference(2)};
  program.inputs = {{InputKind::Parameter, "w", "layer.weight", true, std::nullopt},
                    {InputKind::UserInput, "x", "", true, std::nullopt}};
  program.outputs = {{OutputKind::UserOutput, reference(2), ""}};
  program.rangeConstraints = {{size, {2, std::numeric_limits<int64_t>::max()}}};
  program.stackTraces.push_back(
      "File \"/home/user/model.py\", line 31, in forward\n    return self.layer(x)\n"
      "  File \"/lib/site-packages/torch/nn/modules/layer.py\", line 7, in forward\n"
      "    return x + self.weight");
  program.moduleStacks.push_back({{"", "model.Net"}, {"encoder.layer", "torch.nn.Layer"}});
  auto storage = std::make_shared<Storage>(Storage{nullptr, nullptr, 8});
  program.stateDict["layer.weight"] = {"layer.weight", DType::F32, {2}, {1}, 0, storage};
  return program;
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
static std::string argumentText(Argument argument) {
  Program program = makeProgram();
  program.graph.nodes[2].arguments = {{"value", std::move(argument), false}};
  std::string text = program.print();
  size_t start = text.find("add.Tensor(") + 11;
  return text.substr(start, text.find(")\n", start) - start);
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
  EXPECT_EQ(argumentText({Argument::List{{int64_t(1)}, {}}}), "[1, None]");
  EXPECT_EQ(argumentText({Argument::List{{int64_t(1)}}, true}), "(1,)");
}

TEST(ProgramText, ShowsOperatorsAndDeletesUnusedValues) {
  Program program = makeProgram();
  Node product{NodeKind::Call,
               "mul",
               "_operator.mul",
               {{"0", reference(2), false}, {"1", {int64_t(3)}, false}},
               Type{SymIntType{3}},
               1,
               0};
  program.graph.nodes.push_back(product);
  EXPECT_NE(program.print().find("\n            mul: \"Sym(3)\" = add * 3;  mul = None\n"),
            std::string::npos);
}

TEST(ProgramPlace, NamesTheUsersLineAndModule) {
  Program program = makeProgram();
  Node &node = program.graph.nodes[2];
  EXPECT_EQ(program.place(node), "model.py:31 in encoder.layer");
  node.moduleStack = 0;
  EXPECT_EQ(program.place(node), "model.py:31");
  program.stackTraces[1] = "File \"torch/fx/passes/runtime_assert.py\", line 24, in insert\n    x";
  EXPECT_EQ(program.place(node), "");
  node.moduleStack = 1;
  EXPECT_EQ(program.place(node), "encoder.layer");
  program.stackTraces[1] =
      "File \"<eval_with_key>.1\", line 9, in forward\n    x\nFile \"no number\", line , in f\n  x";
  EXPECT_EQ(program.place(node), "encoder.layer");
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
  program.graph.nodes[2].arguments[1].value = Argument{Argument::List{reference(2)}};
  EXPECT_EQ(verifyError(program),
            "[add] argument 'other' is not computed yet: got node 2, expected one below 2");

  program = makeProgram();
  program.graph.outputs = {reference(9)};
  EXPECT_EQ(verifyError(program),
            "[forward] argument 'output' is not computed yet: got node 9, expected one below 3");

  program = makeProgram();
  program.graph.nodes[2].arguments[1].value = Argument{GraphReference{0}};
  EXPECT_EQ(verifyError(program), "[add] argument 'other' is no graph: got 0, expected one below 0");

  program = makeProgram();
  std::swap(program.graph.nodes[1], program.graph.nodes[2]);
  program.graph.nodes[1].arguments.clear();
  EXPECT_EQ(verifyError(program), "[x] a placeholder after other nodes: got node 2, expected all before");

  program = makeProgram();
  program.graph.nodes[2].stackTrace = 5;
  EXPECT_EQ(verifyError(program), "[add] unknown stack: got trace 5 and modules 1, expected below 2 and 2");

  program = makeProgram();
  program.graph.nodes[2].type = Type{SymIntType{SymInt::expression(4)}};
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
