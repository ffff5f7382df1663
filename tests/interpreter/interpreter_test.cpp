// The interpreter as a library: entries, arguments, and errors that name the op and its line.
#include "interpreter/interpreter.h"

#include "base/memory_share.h"

#include <gtest/gtest.h>

namespace torchere::interpreter {
namespace {

stablehlo::Module parsed(std::string_view text) {
  auto module = parseModule(text, "test.mlir");
  EXPECT_TRUE(module) << (module ? "" : module.error().text());
  return *std::move(module);
}

Tensor vector(ElementType type, std::vector<int64_t> values) {
  Tensor tensor = *Tensor::create(type, {static_cast<int64_t>(values.size())});
  for (size_t position = 0; position < values.size(); ++position)
    tensor.set(static_cast<int64_t>(position),
               convert(Element::integer(ElementType::I64, static_cast<uint64_t>(values[position])), type));
  return tensor;
}

std::string errorOf(std::string_view text, std::vector<Tensor> inputs = {}, Options options = {}) {
  auto results = interpret(parsed(text), std::move(inputs), options);
  return results ? "no error" : results.error().text();
}

TEST(Interpreter, RunsMainOrTheOnlyFunctionOrTheNamedOne) {
  constexpr auto two = R"(
func.func @double(%x: tensor<3xi32>) -> tensor<3xi32> {
  %0 = stablehlo.add %x, %x : tensor<3xi32>
  return %0 : tensor<3xi32>
}
func.func @main(%x: tensor<3xi32>) -> tensor<3xi32> {
  %0 = call @double(%x) : (tensor<3xi32>) -> tensor<3xi32>
  %1 = call @double(%0) : (tensor<3xi32>) -> tensor<3xi32>
  return %1 : tensor<3xi32>
}
)";
  Tensor input = vector(ElementType::I32, {1, -2, 3});
  EXPECT_EQ((*interpret(parsed(two), {input}))[0].integers(), (Index{4, -8, 12}));
  EXPECT_EQ((*interpret(parsed(two), {input}, {.entry = "double", .probeDirectory = ""}))[0].integers(),
            (Index{2, -4, 6}));
  EXPECT_EQ(errorOf(two, {input}, {.entry = "triple", .probeDirectory = ""}),
            "[interpret] the module has no function \"triple\"");
  EXPECT_EQ(errorOf("func.func @a() { return }\nfunc.func @b() { return }"),
            "[interpret] the module has 2 functions and none is called main");
}

TEST(Interpreter, ChecksArguments) {
  constexpr auto text = "func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> }";
  EXPECT_EQ((*interpret(parsed(text), {vector(ElementType::F32, {1, 2})}))[0].count(), 2);
  EXPECT_EQ(errorOf(text), "[f] wrong number of arguments: got 0, expected 1; at test.mlir:1:1");
  EXPECT_EQ(errorOf(text, {vector(ElementType::F64, {1})}),
            "[f] wrong type of argument 0: got tensor<1xf64>, expected tensor<?xf32>; at test.mlir:1:1");
  EXPECT_EQ(errorOf("func.func @f(%x: tensor<3xi8>) { return }", {vector(ElementType::I8, {1})}),
            "[f] wrong type of argument 0: got tensor<1xi8>, expected tensor<3xi8>; at test.mlir:1:1");
}

TEST(Interpreter, NamesTheOpAndItsLine) {
  EXPECT_EQ(errorOf("func.func @f() {\n  stablehlo.custom_call @magic() : () -> ()\n  return\n}"),
            "[magic] no kernel is registered for the custom call's target; at test.mlir:2:3");
  EXPECT_EQ(errorOf(R"(func.func @f() {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  check.expect_eq_const %0, dense<[1, 3]> : tensor<2xi32>
  return
})"),
            "[check.expect_eq_const] element [1]: got 2, expected 3; at test.mlir:3:3");
}

TEST(Interpreter, ChecksSizesThatTheTypesLeaveOpen) {
  constexpr auto text = R"(func.func @f(%x: tensor<?xi32>, %y: tensor<?xi32>) -> tensor<?xi32> {
  %0 = stablehlo.add %x, %y : tensor<?xi32>
  return %0 : tensor<?xi32>
})";
  std::string error = errorOf(text, {vector(ElementType::I32, {1, 2}), vector(ElementType::I32, {1})});
  EXPECT_NE(error.find("[stablehlo.add] "), std::string::npos) << error;
  EXPECT_NE(error.find("'tensor<2xi32>' and 'tensor<1xi32>'"), std::string::npos) << error;
}

TEST(Interpreter, ChecksComputedShapes) {
  constexpr auto text = R"(func.func @f(%x: tensor<6xi32>, %s: tensor<2xi32>) -> tensor<?x3xi32> {
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<6xi32>, tensor<2xi32>) -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
})";
  Tensor x = vector(ElementType::I32, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ((*interpret(parsed(text), {x, vector(ElementType::I32, {2, 3})}))[0].shape(), (Index{2, 3}));
  EXPECT_EQ(errorOf(text, {x, vector(ElementType::I32, {2, 4})}),
            "[stablehlo.dynamic_reshape] tensor<6xi32> cannot take the shape [2, 4]: the number of elements "
            "differs; at test.mlir:2:8");
  EXPECT_EQ(errorOf(text, {x, vector(ElementType::I32, {3, 2})}),
            "[stablehlo.dynamic_reshape] wrong type of result 0: got tensor<3x2xi32>, expected "
            "tensor<?x3xi32>; at test.mlir:2:8");
  EXPECT_EQ(errorOf(text, {x, vector(ElementType::I32, {-1, 3})}),
            "[stablehlo.dynamic_reshape] operand 1 holds the size -1, expected at least 0; at test.mlir:2:8");
}

TEST(Interpreter, ChecksTheLabelsOfEinsums) {
  auto errorOfEinsum = [](std::string_view config) {
    return errorOf(fmt::format(R"(func.func @f(%x: tensor<2x2xi32>) -> tensor<2x2xi32> {{
      %0 = "stablehlo.unary_einsum"(%x) <{{einsum_config = "{}"}}> : (tensor<2x2xi32>) -> tensor<2x2xi32>
      return %0 : tensor<2x2xi32>
    }})",
                               config),
                   {*Tensor::create(ElementType::I32, {2, 2})});
  };
  EXPECT_EQ(errorOfEinsum("ij->ji"), "no error");
  EXPECT_EQ(errorOfEinsum("ij->ii"),
            "[stablehlo.unary_einsum] einsum_config \"ij->ii\": the result has the label 'i' twice; at "
            "test.mlir:2:12");
  EXPECT_EQ(errorOfEinsum("ij->ik"),
            "[stablehlo.unary_einsum] einsum_config \"ij->ik\": no operand has the result's label 'k'; at "
            "test.mlir:2:12");
}

TEST(Interpreter, RefusesTensorsThatCannotExist) {
  constexpr auto text = R"(func.func @f(%s: tensor<3xi64>) -> tensor<?x?x?xi8> {
  %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<3xi64>) -> tensor<?x?x?xi8>
  return %0 : tensor<?x?x?xi8>
})";
  EXPECT_EQ(errorOf(text, {vector(ElementType::I64, {INT64_MAX, INT64_MAX, INT64_MAX})}),
            "[stablehlo.dynamic_iota] no memory for a tensor<9223372036854775807x9223372036854775807x"
            "9223372036854775807xi8>; at test.mlir:2:8");
}

TEST(Interpreter, TakesNoMoreMemoryThanThereIs) {
  int64_t most = memoryLimit() - 1000;
  auto share = MemoryShare::take(most);
  ASSERT_TRUE(share) << share.error().text();
  auto more = MemoryShare::take(1001);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ErrorCode::ResourceExhausted);
  EXPECT_EQ(more.error().message,
            fmt::format("no memory for 1001 bytes: 1000 of {} are left", memoryLimit()));
  constexpr auto text = R"(func.func @f() -> tensor<126xi64> {
  %0 = stablehlo.iota dim = 0 : tensor<126xi64>
  return %0 : tensor<126xi64>
})";
  EXPECT_EQ(errorOf(text), "[stablehlo.iota] no memory for a tensor<126xi64>; at test.mlir:2:8");
  *share = MemoryShare();
  EXPECT_EQ(errorOf(text), "no error");
}

TEST(Interpreter, CountsTheMemoryThatAnOpComputesIn) {
  constexpr auto text = R"(func.func @f(%x: tensor<50xi8>) -> tensor<i8> {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<50xi8>, tensor<50xi8>) -> tensor<i8>
  return %0 : tensor<i8>
})";
  auto share = MemoryShare::take(memoryLimit() - 1000);
  ASSERT_TRUE(share) << share.error().text();
  EXPECT_EQ(errorOf(text, {vector(ElementType::I8, std::vector<int64_t>(50, 1))}),
            fmt::format("[stablehlo.dot_general] no memory for 3232 bytes: 949 of {} are left; at "
                        "test.mlir:2:8",
                        memoryLimit()));
}

TEST(Interpreter, EndlessRecursionIsAnError) {
  EXPECT_EQ(errorOf("func.func @f() {\n  call @f() : () -> ()\n  return\n}"),
            "[func.call] calls and regions are nested more than 500 deep; at test.mlir:2:3");
}

} // namespace
} // namespace torchere::interpreter
