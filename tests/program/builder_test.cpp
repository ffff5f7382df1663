// Builder, interned ops and the structural hash.
#include "program/builder.h"

#include <gtest/gtest.h>

namespace torchere::program {
namespace {

constexpr std::string_view sumSchema =
    "aten::sum.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor";

std::vector<std::string> givenNames(const Node &node) {
  std::vector<std::string> names;
  for (const NamedArgument &argument : node.given())
    names.push_back(argument.name);
  return names;
}

TEST(OpInterner, HasOneObjectForAnOp) {
  OpInterner ops;
  const Op *sum = ops.intern("aten.sum.dim", sumSchema).value();
  EXPECT_EQ(sum, ops.intern("aten.sum.dim", sumSchema).value());
  EXPECT_EQ(sum->name, "aten.sum.dim");
  EXPECT_EQ(sum->argumentNames, (std::vector<std::string>{"self", "dim", "keepdim", "dtype"}));
  EXPECT_TRUE(sum->schema->arguments[3].isKeywordOnly);
  const Op *max = ops.intern("torch.sym_max", std::vector<std::string>{"0", "1"});
  EXPECT_EQ(max, ops.intern("torch.sym_max", std::vector<std::string>{"0", "1"}));
  EXPECT_NE(max, ops.intern("torch.sym_max", std::vector<std::string>{"0", "b"}));
  EXPECT_FALSE(max->schema);
  EXPECT_NE(max->hash, sum->hash);
  EXPECT_EQ(OpInterner().intern("aten.sum.dim", sumSchema).value()->hash, sum->hash);
  EXPECT_EQ(ops.intern("x.y", "x::y(").error().message,
            "[schema \"x::y(\"] unreadable at column 6: got the end, expected a type");
}

TEST(Builder, PutsArgumentsAtTheirPositions) {
  Builder builder;
  GraphBuilder graph = builder.main();
  graph.placeholder({}, builder.label({.name = "x"}));
  Argument self = reference(0), dims = builder.constant({Constant::List{{int64_t(1)}}});
  std::vector<KeywordArgument> keywords = {{"dtype", builder.constant({DType::F64})}, {"dim", dims}};
  NodeId sum = graph.call("aten.sum.dim", sumSchema, {&self, 1}, keywords, {}, {.name = "sum"}).value();
  Argument output = reference(sum);
  graph.setOutputs({&output, 1});
  Program program = builder.finish();
  const Node &node = program.graph.nodes[sum];
  ASSERT_EQ(node.arguments.size(), 4u);
  EXPECT_EQ(node.arguments[0].as<NodeReference>()->node, 0u);
  EXPECT_EQ(*(*node.arguments[1].as<Argument::List>())[0].as<int64_t>(), 1);
  EXPECT_FALSE(node.arguments[2].isGiven());
  EXPECT_EQ(*node.arguments[3].as<DType>(), DType::F64);
  EXPECT_EQ(givenNames(node), (std::vector<std::string>{"self", "dim", "dtype"}));
  // As the call had them.
  EXPECT_NE(program.print().find("sum = torch.ops.aten.sum.dim(x, dtype = torch.float64, dim = [1])"),
            std::string::npos);
}

TEST(Builder, NamesArgumentsThatFitNoSchema) {
  Builder builder;
  GraphBuilder graph = builder.main();
  auto errorOf = [&](std::span<const Argument> positional, std::span<const KeywordArgument> keywords) {
    return graph.call("aten.sum.dim", sumSchema, positional, keywords, {}, {.name = "sum"}).error().message;
  };
  std::vector<Argument> five(5);
  EXPECT_EQ(errorOf(five, {}),
            fmt::format("[sum] too many arguments: got 5, expected those of {}", sumSchema));
  KeywordArgument unknown{"axis", {}}, twice{"self", {}};
  EXPECT_EQ(errorOf({}, {&unknown, 1}),
            fmt::format("[sum] unknown argument: got 'axis', expected those of {}", sumSchema));
  EXPECT_EQ(errorOf({five.data(), 1}, {&twice, 1}), "[sum] argument 'self' is given twice");
}

TEST(Builder, NamesArgumentsWithoutASchemaByPlaceAndKeyword) {
  Builder builder;
  Argument first{int64_t(7)};
  KeywordArgument flag{"flag", {true}};
  builder.main().call("my.callable", "", {&first, 1}, {&flag, 1}, {}, {.name = "c"}).value();
  Program program = builder.finish();
  EXPECT_EQ(givenNames(program.graph.nodes[0]), (std::vector<std::string>{"0", "flag"}));
  EXPECT_NE(program.print().find("c = torch.ops.my.callable(7, flag = True)"), std::string::npos);
}

TEST(Builder, BuildsSubgraphs) {
  Builder builder;
  GraphBuilder graph = builder.main(), body = builder.addSubgraph(graph, "true_graph_0");
  body.placeholder({}, builder.label({.name = "arg0"}));
  Argument inner = reference(0);
  body.setOutputs({&inner, 1});
  graph.placeholder({}, builder.label({.name = "p"}));
  NodeId branch = graph.graph("true_graph_0", body, builder.label({.name = "true_graph_0"}));
  Argument arguments[] = {reference(0), reference(branch)};
  graph.call("higher_order.cond", "", arguments, {}, {}, {.name = "cond"}).value();
  builder.program().inputs = {{InputKind::UserInput, "p", "", true, std::nullopt}};
  Program program = builder.finish();
  ASSERT_TRUE(program.verify()) << program.verify().error().text();
  EXPECT_EQ(program.graph.children, std::vector<uint32_t>{0});
  EXPECT_EQ(program.graph.nodes[branch].arguments[0].as<GraphReference>()->index, 0u);
  EXPECT_EQ(program.subgraphs[0].name, "true_graph_0");
  EXPECT_NE(program.print().find("true_graph_0 = self.true_graph_0"), std::string::npos);
}

TEST(Builder, WantsAnOutputForEachSpec) {
  Builder builder;
  EXPECT_EQ(builder.addOutput(OutputKind::UserOutput, "").error().message,
            "[signature] an output spec too many: expected 0");
}

TEST(Builder, KeepsWhatNodesLookAt) {
  Program program;
  {
    Builder builder;
    std::vector<SymInt> shape = {2, builder.program().expressions.symbol("s0")};
    std::string device = "cuda:1", name = "a name that is not short";
    Type tensor = builder.tensorType(DType::F16, shape, {}, device);
    Type types[] = {tensor, builder.type(SymFloatType{std::string("zuf0*2.5 + 1.0")})};
    builder.main().placeholder(builder.type(Type::List(types)), builder.label({.name = name}));
    shape.clear();
    device = name = "gone";
    program = builder.finish();
  }
  const Node &node = program.graph.nodes[0];
  EXPECT_EQ(node.name(), "a name that is not short");
  const Type::List &types = *node.type.as<Type::List>();
  EXPECT_EQ(types[0].as<TensorType>()->device, "cuda:1");
  EXPECT_EQ(types[0].as<TensorType>()->shape[0], SymInt(2));
  EXPECT_EQ(program.expressions.print(types[0].as<TensorType>()->shape[1]), "s0");
  EXPECT_EQ(types[1].as<SymFloatType>()->text, "zuf0*2.5 + 1.0");
}

TEST(Builder, StoresEqualTypesOfTensorsOnce) {
  Builder builder;
  SymInt symbol = builder.program().expressions.symbol("s0");
  auto typeOf = [&](int64_t size, DType dtype = DType::F32, SymInt stride = 1,
                    std::string_view device = "cpu") {
    std::array<SymInt, 2> shape = {symbol, SymInt(size)}, strides = {SymInt(size), stride};
    return builder.tensorType(dtype, shape, strides, device);
  };
  Type type = typeOf(4);
  EXPECT_EQ(typeOf(4), type);
  EXPECT_NE(typeOf(5), type);
  EXPECT_NE(typeOf(4, DType::F64), type);
  EXPECT_NE(typeOf(4, DType::F32, 2), type);
  EXPECT_NE(typeOf(4, DType::F32, 1, "cuda"), type);
  EXPECT_NE(typeOf(4, DType::F32, SymInt::expression(symbol.id())), type);
  std::vector<Type> types;
  for (int64_t size = 0; size < 1000; ++size)
    types.push_back(typeOf(size));
  for (int64_t size = 0; size < 1000; ++size) {
    EXPECT_EQ(typeOf(size), types[size]);
    EXPECT_EQ(types[size].as<TensorType>()->shape[1], SymInt(size));
  }
}

TEST(Argument, BecomesAConstant) {
  Builder builder;
  Constant list{Constant::List{{int64_t(1)}, {2.5}, {true}, {}, {std::string("s")}, {DType::I8}}, true};
  Argument argument = builder.constant(list);
  std::optional<Constant> back = argument.constant();
  ASSERT_TRUE(back && back->isTuple);
  const auto &elements = *back->as<Constant::List>();
  ASSERT_EQ(elements.size(), 6u);
  EXPECT_EQ(*elements[0].as<int64_t>(), 1);
  EXPECT_EQ(*elements[1].as<double>(), 2.5);
  EXPECT_EQ(*elements[2].as<bool>(), true);
  EXPECT_TRUE(elements[3].isNone());
  EXPECT_EQ(*elements[4].as<std::string>(), "s");
  EXPECT_EQ(*elements[5].as<DType>(), DType::I8);
  Argument inside[] = {argument, reference(0)};
  EXPECT_FALSE(builder.list(inside).constant());
  EXPECT_FALSE(Argument{GraphReference{0}}.constant());
}

/// What may differ between two programs.
struct Choice {
  std::string op = "aten.f.default", label = "a", weight = "w", symbol = "s0", device = "cpu";
  DType dtype = DType::F32;
  int64_t size = 4, least = 2;
  Constant constant{int64_t(1)};
  NodeId operand = 0;
  InputKind kind = InputKind::Buffer;
  OutputKind output = OutputKind::BufferMutation;
  std::string target = "w";
};

StructuralHash hashOf(const Choice &choice) {
  Builder builder;
  GraphBuilder graph = builder.main();
  SymInt symbol = builder.program().expressions.symbol(choice.symbol), shape[] = {choice.size, symbol};
  Type type = builder.tensorType(choice.dtype, shape, {}, choice.device);
  graph.placeholder(type, builder.label({.name = choice.label}));
  graph.placeholder(type, builder.label({.name = "y"}));
  uint32_t trace = builder.addStackTrace("in " + choice.label);
  Argument arguments[] = {reference(choice.operand), builder.constant(choice.constant)},
           output = reference(2);
  graph.call(choice.op, "", arguments, {}, type, Label{choice.label, trace, 0, {}}).value();
  graph.setOutputs({&output, 1});
  builder.program().inputs = {{choice.kind, choice.label, choice.weight, true, std::nullopt},
                              {InputKind::UserInput, "y", "", true, std::nullopt}};
  EXPECT_TRUE(builder.addOutput(choice.output, choice.target));
  builder.program().rangeConstraints = {{symbol, {choice.least, 100}}};
  return builder.finish().structuralHash();
}

TEST(StructuralHash, IsOfWhatIsComputed) {
  StructuralHash base = hashOf({});
  EXPECT_EQ(hashOf({}), base);
  EXPECT_EQ(hashOf({.label = "another"}), base);
  EXPECT_EQ(hashOf({.weight = "v", .target = "v"}), base);
  std::vector<Choice> others = {{.op = "aten.g.default"},
                                {.symbol = "s1"},
                                {.device = "cuda"},
                                {.dtype = DType::F64},
                                {.size = 5},
                                {.least = 3},
                                {.constant = {2.0}},
                                {.constant = {}},
                                {.constant = {std::string("1")}},
                                {.constant = {Constant::List{{int64_t(1)}}}},
                                {.constant = {std::complex<double>(1)}},
                                {.operand = 1},
                                {.kind = InputKind::Parameter},
                                {.output = OutputKind::UserOutput},
                                {.target = "y"}};
  std::vector<StructuralHash> seen = {base};
  for (const Choice &other : others)
    seen.push_back(hashOf(other));
  for (size_t i = 0; i < seen.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      EXPECT_NE(seen[i], seen[j]) << i << " and " << j;
}

TEST(StructuralHash, IsTheSameWhereverTypesLie) {
  auto hashWith = [](bool isShared) {
    Builder builder;
    std::vector<Type> types;
    for (int64_t i = 0; i < 300; ++i) {
      Type pair[] = {builder.type(SymIntType{i % 100}), builder.tensorType(DType::I8, {})};
      if (!isShared || i < 100)
        types.push_back(builder.type(Type::List(pair)));
      builder.main().placeholder(types[isShared ? i % 100 : i]);
    }
    return builder.finish().structuralHash();
  };
  EXPECT_EQ(hashWith(true), hashWith(false));
}

TEST(StructuralHash, CountsSubgraphs) {
  auto hashWith = [](double value) {
    Builder builder;
    GraphBuilder body = builder.addSubgraph(builder.main(), "body");
    Argument output{value};
    body.setOutputs({&output, 1});
    return builder.finish().structuralHash();
  };
  EXPECT_EQ(hashWith(1), hashWith(1));
  EXPECT_NE(hashWith(1), hashWith(2));
}

} // namespace
} // namespace torchere::program
