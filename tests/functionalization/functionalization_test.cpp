// functionalize() on small programs: their text before and after, what it refuses, and what it costs.
#include "functionalization/functionalization.h"
#include "functionalization/memory_layout.h"
#include "program/builder.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace torchere::functionalization {
namespace {

using namespace program;

constexpr std::string_view addInPlace =
    "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)";
constexpr std::string_view sliceSchema =
    "aten::slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> "
    "Tensor(a)";
constexpr std::string_view viewSchema = "aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)";
constexpr std::string_view mulSchema = "aten::mul.Tensor(Tensor self, Tensor other) -> Tensor";
constexpr std::string_view dropoutSchema = "aten::dropout(Tensor input, float p, bool train) -> Tensor";
constexpr std::string_view splitSchema =
    "aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]";

/// Builds a program of contiguous f32 tensors.
class Maker {
public:
  NodeId input(std::string name, std::vector<SymInt> shape, InputKind kind = InputKind::UserInput) {
    program().inputs.push_back({kind, name, kind == InputKind::UserInput ? "" : name, true, std::nullopt});
    return graph.placeholder(typeOf(shape), builder.label({.name = name}));
  }

  void weight(const std::string &name, int64_t offset, std::shared_ptr<const Storage> storage) {
    program().stateDict[name] = {name, DType::F32, {2}, {1}, offset, std::move(storage)};
  }

  NodeId call(std::string_view schema, std::vector<Argument> arguments, Type type) {
    std::string op = schema::Schema::parse(schema)->name;
    std::string name = op.substr(op.find('.') + 1);
    name = fmt::format("{}_n{}", name.substr(0, name.find('.')), ++count);
    return graph.call(op, schema, arguments, {}, type, Label{name, trace, 0, {}}).value();
  }
  NodeId call(std::string_view schema, std::vector<Argument> arguments, std::vector<SymInt> shape) {
    return call(schema, std::move(arguments), typeOf(shape));
  }

  Type typeOf(const std::vector<SymInt> &shape, DType dtype = DType::F32) {
    std::vector<SymInt> strides(shape.size(), SymInt(1));
    for (size_t i = shape.size(); i-- > 1;)
      strides[i - 1] = program().expressions.make(ExpressionKind::Mul, {strides[i], shape[i]});
    return builder.tensorType(dtype, shape, strides);
  }

  Program finish(std::vector<Argument> outputs) {
    graph.setOutputs(outputs);
    for (size_t i = 0; i < outputs.size(); ++i)
      EXPECT_TRUE(builder.addOutput(OutputKind::UserOutput, ""));
    return builder.finish();
  }

  Program &program() { return builder.program(); }

  Builder builder;
  GraphBuilder graph = builder.main();
  uint32_t trace = 0;
  int count = 0;
};

Argument reference(NodeId node) {
  return {NodeReference{node}};
}

/// The calls, and what is returned, without types: "add = torch.ops.aten.add.Tensor(x, 1)".
std::vector<std::string> linesOf(const Program &program) {
  std::vector<std::string> lines;
  std::string text = program.print();
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find('\n', at);
    std::string line = text.substr(at, end - at);
    at = end + 1;
    size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos)
      continue;
    line = line.substr(begin);
    if (line.starts_with("return ") || line.find(" = ") != std::string::npos) {
      size_t type = line.find(": \""), equals = line.find(" = ");
      if (type < equals && equals != std::string::npos)
        line.erase(type, equals - type);
      lines.push_back(line.substr(0, line.find(";  ")));
    }
  }
  return lines;
}

using Lines = std::vector<std::string>;

Program functionalized(Program program) {
  EXPECT_TRUE(program.verify());
  Status status = functionalize(program);
  EXPECT_TRUE(status) << status.error().text();
  Status verified = program.verify();
  EXPECT_TRUE(verified) << verified.error().text();
  return program;
}

TEST(Functionalize, MakesAnInPlaceOpItsFunctionalForm) {
  Maker maker;
  NodeId x = maker.input("x", {2, 3});
  NodeId y = maker.call(mulSchema, {reference(x), reference(x)}, {2, 3});
  NodeId z = maker.call(addInPlace, {reference(y), {int64_t(1)}, {int64_t(2)}}, {2, 3});
  Program program = functionalized(maker.finish({reference(y), reference(z)}));
  EXPECT_EQ(linesOf(program),
            (Lines{"mul_n1 = torch.ops.aten.mul.Tensor(x, x)",
                   "add = torch.ops.aten.add.Tensor(mul_n1, 1, alpha = 2)", "return (add, add)"}));
}

TEST(Functionalize, WritesBackThroughViewsAndTakesOthersAgain) {
  Maker maker;
  NodeId x = maker.input("x", {2, 3});
  NodeId y = maker.call(mulSchema, {reference(x), reference(x)}, {2, 3});
  NodeId flat = maker.call(viewSchema, {reference(y), maker.builder.constant({Constant::List{{int64_t(6)}}})},
                           std::vector<SymInt>{6});
  NodeId slice = maker.call(sliceSchema, {reference(flat), {int64_t(0)}, {int64_t(4)}, {int64_t(6)}},
                            std::vector<SymInt>{2});
  maker.call(addInPlace, {reference(y), {int64_t(1)}}, {2, 3});
  maker.call(addInPlace, {reference(slice), {int64_t(5)}}, std::vector<SymInt>{2});
  Program program = functionalized(maker.finish({reference(y), reference(flat)}));
  EXPECT_EQ(
      linesOf(program),
      (Lines{"mul_n1 = torch.ops.aten.mul.Tensor(x, x)", "view_n2 = torch.ops.aten.view.default(mul_n1, [6])",
             "slice_n3 = torch.ops.aten.slice.Tensor(view_n2, 0, 4, 6)",
             "add = torch.ops.aten.add.Tensor(mul_n1, 1)", "view = torch.ops.aten.view.default(add, [6])",
             "slice_1 = torch.ops.aten.slice.Tensor(view, 0, 4, 6)",
             "add_1 = torch.ops.aten.add.Tensor(slice_1, 5)",
             "slice_scatter = torch.ops.aten.slice_scatter.default(view, add_1, 0, 4, 6)",
             "view_1 = torch.ops.aten.view.default(slice_scatter, [2, 3])",
             "return (view_1, slice_scatter)"}));
}

TEST(Functionalize, WrittenInputsComeFirstAmongTheOutputs) {
  Maker maker;
  auto storage = std::make_shared<Storage>(Storage{nullptr, nullptr, 64});
  NodeId buffer = maker.input("b", {2}, InputKind::Buffer), x = maker.input("x", {2});
  maker.weight("b", 0, storage);
  maker.call(addInPlace, {reference(x), reference(buffer)}, std::vector<SymInt>{2});
  maker.call(addInPlace, {reference(buffer), {2.0}}, std::vector<SymInt>{2});
  Program program = functionalized(maker.finish({reference(x)}));
  ASSERT_EQ(program.outputs.size(), 3u);
  EXPECT_EQ(program.outputs[0].kind, OutputKind::BufferMutation);
  EXPECT_EQ(program.outputs[0].target, "b");
  EXPECT_EQ(program.outputs[1].kind, OutputKind::UserInputMutation);
  EXPECT_EQ(program.outputs[1].target, "x");
  EXPECT_EQ(program.outputs[2].kind, OutputKind::UserOutput);
  EXPECT_EQ(linesOf(program),
            (Lines{"add = torch.ops.aten.add.Tensor(x, b)", "add_1 = torch.ops.aten.add.Tensor(b, 2.0)",
                   "return (add_1, add, add)"}));
}

TEST(Functionalize, KnowsNamesOfOneMemory) {
  Maker maker;
  auto storage = std::make_shared<Storage>(Storage{nullptr, nullptr, 64});
  NodeId first = maker.input("b", {2}, InputKind::Buffer), second = maker.input("c", {2}, InputKind::Buffer);
  maker.weight("b", 0, storage);
  maker.weight("c", 0, storage);
  maker.call(addInPlace, {reference(second), {int64_t(1)}}, std::vector<SymInt>{2});
  NodeId sum = maker.call(mulSchema, {reference(first), reference(second)}, std::vector<SymInt>{2});
  Program program = functionalized(maker.finish({reference(sum)}));
  EXPECT_EQ(linesOf(program),
            (Lines{"add = torch.ops.aten.add.Tensor(b, 1)", "mul_n2 = torch.ops.aten.mul.Tensor(add, add)",
                   "return (add, add, mul_n2)"}));
  EXPECT_EQ(program.outputs[0].target, "b");
  EXPECT_EQ(program.outputs[1].target, "c");
}

/// torch captures a tensor that a plain object of the module holds as a constant, also where it is a buffer.
TEST(Functionalize, WritesTheBufferThatWasCapturedAsAConstant) {
  Maker maker;
  auto storage = std::make_shared<Storage>(Storage{nullptr, nullptr, 64});
  NodeId buffer = maker.input("b", {2}, InputKind::Buffer);
  NodeId constant = maker.input("c", {2}, InputKind::ConstantTensor);
  maker.weight("b", 0, storage);
  maker.program().constants["c"] = {"c", DType::F32, {2}, {1}, 0, storage};
  maker.call(addInPlace, {reference(constant), {int64_t(1)}}, std::vector<SymInt>{2});
  Program program = functionalized(maker.finish({reference(buffer)}));
  EXPECT_EQ(linesOf(program), (Lines{"add = torch.ops.aten.add.Tensor(b, 1)", "return (add, add)"}));
  EXPECT_EQ(program.outputs[0].target, "b");
  EXPECT_EQ(program.inputs[1].kind, InputKind::ConstantTensor);
}

TEST(Functionalize, RefusesWeightsThatOverlap) {
  Maker maker;
  auto storage = std::make_shared<Storage>(Storage{nullptr, nullptr, 64});
  NodeId first = maker.input("b", {2}, InputKind::Buffer);
  maker.input("c", {2}, InputKind::Buffer);
  maker.weight("b", 0, storage);
  maker.weight("c", 1, storage);
  maker.call(addInPlace, {reference(first), {int64_t(1)}}, std::vector<SymInt>{2});
  Program program = maker.finish({reference(first)});
  EXPECT_EQ(
      functionalize(program).error().text(),
      "[b] is written and shares memory with 'c': expected weights of their own memory, or of all of one "
      "in its order");
}

TEST(Functionalize, RemovesDropoutInEval) {
  Maker maker;
  NodeId x = maker.input("x", {2});
  NodeId y = maker.call(mulSchema, {reference(x), reference(x)}, std::vector<SymInt>{2});
  NodeId eval = maker.call(dropoutSchema, {reference(y), {0.5}, {false}}, std::vector<SymInt>{2});
  NodeId none = maker.call(dropoutSchema, {reference(eval), {0.0}, {true}}, std::vector<SymInt>{2});
  NodeId training = maker.call(dropoutSchema, {reference(none), {0.5}, {true}}, std::vector<SymInt>{2});
  maker.call(addInPlace, {reference(none), {int64_t(1)}}, std::vector<SymInt>{2});
  maker.call(addInPlace, {reference(training), {int64_t(1)}}, std::vector<SymInt>{2});
  Program program = functionalized(maker.finish({reference(y), reference(training)}));
  EXPECT_EQ(linesOf(program),
            (Lines{"mul_n1 = torch.ops.aten.mul.Tensor(x, x)",
                   "dropout_n4 = torch.ops.aten.dropout.default(mul_n1, 0.5, True)",
                   "add = torch.ops.aten.add.Tensor(mul_n1, 1)",
                   "add_1 = torch.ops.aten.add.Tensor(dropout_n4, 1)", "return (add, add_1)"}));
}

TEST(Functionalize, JoinsPartsOfOpenLength) {
  Maker maker;
  SymInt symbol = maker.program().expressions.symbol("s0");
  SymInt half = maker.program().expressions.make(ExpressionKind::FloorDiv, {symbol, SymInt(2)});
  NodeId x = maker.input("x", {symbol});
  NodeId y = maker.call(mulSchema, {reference(x), reference(x)}, std::vector<SymInt>{symbol});
  Type parts[] = {maker.typeOf({half}), maker.typeOf({half})};
  NodeId split = maker.call(splitSchema, {reference(y), {int64_t(2)}}, maker.builder.type(Type::List(parts)));
  Argument getItem[] = {reference(split), {int64_t(1)}};
  NodeId part = maker.graph.call("_operator.getitem", "", getItem, {}, parts[1], {.name = "part"}).value();
  maker.call(addInPlace, {reference(part), {int64_t(1)}}, std::vector<SymInt>{half});
  Program program = functionalized(maker.finish({reference(y)}));
  EXPECT_EQ(
      linesOf(program),
      (Lines{"mul_n1 = torch.ops.aten.mul.Tensor(x, x)", "split_n2 = torch.ops.aten.split.Tensor(mul_n1, 2)",
             "part = split_n2[1]", "add = torch.ops.aten.add.Tensor(part, 1)",
             "split = torch.ops.aten.split.Tensor(mul_n1, 2)", "getitem = split[0]",
             "cat = torch.ops.aten.cat.default([getitem, add], 0)", "return (cat,)"}));
}

TEST(Functionalize, NamesOpAndPlaceOfWhatItRefuses) {
  Maker maker;
  NodeId x = maker.input("x", {2, 3});
  maker.trace =
      maker.builder.addStackTrace("File \"/home/user/model.py\", line 31, in forward\n    x.resize_(1)");
  maker.call(
      "aten::resize_(Tensor(a!) self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor(a!)",
      {reference(x), maker.builder.constant({Constant::List{{int64_t(1)}}})}, std::vector<SymInt>{1});
  Program program = maker.finish({reference(x)});
  std::string before = program.print();
  EXPECT_EQ(
      functionalize(program).error().text(),
      "[aten.resize_.default] writes to an argument in a way that has no functional form: got "
      "aten::resize_(Tensor(a!) self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor(a!), "
      "expected an in-place op that keeps the tensor's size and memory; at model.py:31");
  EXPECT_EQ(program.print(), before);
}

TEST(Functionalize, LeavesOpsOfOthersThatWrite) {
  Maker maker;
  NodeId x = maker.input("x", {2});
  NodeId y = maker.call(mulSchema, {reference(x), reference(x)}, std::vector<SymInt>{2});
  maker.call(addInPlace, {reference(y), {int64_t(1)}}, std::vector<SymInt>{2});
  maker.call("mylib::put(Tensor(a!) x) -> Tensor", {reference(y)}, std::vector<SymInt>{2});
  Program program = functionalized(maker.finish({reference(y)}));
  EXPECT_EQ(linesOf(program),
            (Lines{"mul_n1 = torch.ops.aten.mul.Tensor(x, x)", "add = torch.ops.aten.add.Tensor(mul_n1, 1)",
                   "put_n3 = torch.ops.mylib.put.default(add)", "return (add,)"}));
}

TEST(Functionalize, RefusesWritesToInputsOfSubgraphs) {
  Maker maker;
  maker.input("x", {2});
  GraphBuilder body = maker.builder.addSubgraph(maker.graph, "body_0");
  NodeId inner = body.placeholder(maker.typeOf({2}));
  Argument arguments[] = {reference(inner), {int64_t(1)}};
  const Op *add = maker.program().ops->intern("aten.add_.Tensor", addInPlace).value();
  Argument output = reference(body.call(add, arguments, maker.typeOf({2})));
  body.setOutputs({&output, 1});
  Program program = maker.finish({});
  EXPECT_EQ(functionalize(program).error().text(),
            "[aten.add_.Tensor] writes to an input of the graph 'body_0': expected a graph that is called to "
            "write to tensors of its own");
}

TEST(Functionalize, RefusesToWriteThroughWhatItCannotInvert) {
  Maker maker;
  NodeId x = maker.input("x", {2});
  NodeId y = maker.call("aten::view_as_complex(Tensor(a) self) -> Tensor(a)", {reference(x)},
                        maker.typeOf({}, DType::C64));
  NodeId z =
      maker.call("mylib::turned(Tensor(a) self) -> Tensor(a)", {reference(y)}, maker.typeOf({}, DType::C64));
  maker.call(addInPlace, {reference(z), {int64_t(1)}}, maker.typeOf({}, DType::C64));
  Program program = maker.finish({reference(x)});
  EXPECT_EQ(
      functionalize(program).error().message,
      "[aten.add_.Tensor] writes through mylib.turned.default, whose inverse is not known: expected a view "
      "that moves elements alone");
}

TEST(Functionalize, WritesThroughViewsOfOtherDTypes) {
  Maker maker;
  NodeId x = maker.input("x", {2});
  NodeId y = maker.call("aten::view_as_complex(Tensor(a) self) -> Tensor(a)", {reference(x)},
                        maker.typeOf({}, DType::C64));
  NodeId z =
      maker.call("aten::_conj(Tensor(a) self) -> Tensor(a)", {reference(y)}, maker.typeOf({}, DType::C64));
  maker.call(addInPlace, {reference(z), {int64_t(1)}}, maker.typeOf({}, DType::C64));
  NodeId bits =
      maker.call("aten::view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)",
                 {reference(x), maker.builder.constant({DType::I32})}, maker.typeOf({2}, DType::I32));
  maker.call(addInPlace, {reference(bits), {int64_t(1)}}, maker.typeOf({2}, DType::I32));
  Program program = functionalized(maker.finish({}));
  Lines lines = linesOf(program);
  lines.erase(lines.begin(), lines.begin() + 2);
  auto call = [](const std::string &line) { return line.substr(line.find("torch.ops")); };
  lines.pop_back();
  std::ranges::transform(lines, lines.begin(), call);
  EXPECT_EQ(lines, (Lines{"torch.ops.aten.add.Tensor(_conj_n2, 1)", "torch.ops.aten._conj.default(add)",
                          "torch.ops.aten.view_as_real.default(_conj)",
                          "torch.ops.aten.view.dtype(view_as_real, torch.int32)",
                          "torch.ops.aten.add.Tensor(view_n4, 1)",
                          "torch.ops.aten.view.dtype(add_1, torch.float32)"}));
}

/// Programs without labels are the lazy device's.
TEST(Functionalize, WorksWithoutLabels) {
  Maker maker;
  NodeId x = maker.graph.placeholder(maker.typeOf({2}));
  maker.program().inputs = {{InputKind::UserInput, "v0", "", true, std::nullopt}};
  const Op *add = maker.program().ops->intern("aten.add_.Tensor", addInPlace).value();
  Argument arguments[] = {reference(x), {int64_t(1)}};
  NodeId sum = maker.graph.call(add, arguments, maker.typeOf({2}));
  Program program = functionalized(maker.finish({reference(sum)}));
  EXPECT_EQ(linesOf(program), (Lines{"v1 = torch.ops.aten.add.Tensor(v0, 1)", "return (v1, v1)"}));
}

/// A memory with many tensors, each written: twice as many take twice as many nodes.
TEST(Functionalize, CostsWhatTheProgramHas) {
  auto nodesWith = [](int64_t count) {
    Maker maker;
    NodeId x = maker.input("x", {count, 2});
    NodeId y = maker.call(mulSchema, {reference(x), reference(x)}, {count, 2});
    std::vector<NodeId> rows;
    for (int64_t i = 0; i < count; ++i)
      rows.push_back(maker.call(sliceSchema, {reference(y), {int64_t(0)}, {i}, {i + 1}}, {1, 2}));
    for (NodeId row : rows)
      maker.call(addInPlace, {reference(row), {int64_t(1)}}, {1, 2});
    return functionalized(maker.finish({reference(y)})).graph.nodes.size();
  };
  EXPECT_EQ(nodesWith(1), 2 + 1 + 2u);           // a slice, the sum, the scatter
  EXPECT_EQ(nodesWith(1000), 2 + 1000 * 4u - 1); // each but the first slice is taken again
  EXPECT_EQ(nodesWith(2000), 2 + 2000 * 4u - 1);
}

TEST(MemoryLayout, KnowsContiguousAndOverlapping) {
  Builder builder;
  ExpressionPool &expressions = builder.program().expressions;
  SymInt s0 = expressions.symbol("s0"), s1 = expressions.symbol("s1");
  auto typeOf = [&](std::vector<SymInt> shape, std::vector<SymInt> strides) {
    return *builder.tensorType(DType::F32, shape, strides).as<TensorType>();
  };
  EXPECT_TRUE(isContiguous(typeOf({2, 3}, {3, 1}), expressions));
  EXPECT_FALSE(isContiguous(typeOf({2, 3}, {1, 2}), expressions));
  EXPECT_TRUE(isContiguous(typeOf({1, 3}, {77, 1}), expressions));
  EXPECT_TRUE(isContiguous(typeOf({0, 3}, {9, 9}), expressions));
  SymInt product = expressions.make(ExpressionKind::Mul, {s1, SymInt(4)});
  EXPECT_TRUE(isContiguous(typeOf({s0, s1, 4}, {product, 4, 1}), expressions));
  EXPECT_FALSE(isContiguous(typeOf({s0, s1, 4}, {s1, 4, 1}), expressions));
  EXPECT_FALSE(hasInternalOverlap(typeOf({2, 3}, {1, 2})));
  EXPECT_TRUE(hasInternalOverlap(typeOf({2, 3}, {0, 1})));
  EXPECT_TRUE(hasInternalOverlap(typeOf({s0, 3}, {0, 1})));
  EXPECT_TRUE(hasInternalOverlap(typeOf({3, 3}, {1, 2})));
  EXPECT_FALSE(hasInternalOverlap(typeOf({1, 3}, {0, 1})));
  EXPECT_EQ(denseOrder(typeOf({2, 3, 4}, {1, 8, 2}), expressions), (std::vector<int64_t>{1, 2, 0}));
  EXPECT_EQ(denseOrder(typeOf({2, 3}, {4, 1}), expressions), std::nullopt);
  EXPECT_EQ(denseOrder(typeOf({s0, 3}, {3, 1}), expressions), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(denseOrder(typeOf({s0, 3}, {1, s0}), expressions), std::nullopt);
}

} // namespace
} // namespace torchere::functionalization
