// Args: binding given arguments to a schema, its defaults and its errors.
#include "lowering/args.h"

#include <gtest/gtest.h>

namespace torchere::lowering {
namespace {

using schema::Schema;

struct Named {
  std::string_view name;
  Argument value;
};

/// Binds the arguments as a program gives them that calls them as the schema does.
Result<Args> bound(const Schema &schema, const std::vector<Named> &named) {
  std::vector<GivenArgument> given;
  for (const Named &argument : named)
    given.push_back({argument.name, schema.position(argument.name), argument.value});
  return Args::bind(schema, std::move(given));
}

Schema schemaOf(std::string_view text) {
  return *Schema::parse(text);
}

TEST(Args, TakesAGraphForAGraphAlone) {
  Schema schema = schemaOf("higher_order::apply(Graph body, Any[] operands) -> Any[]");
  auto args = bound(schema, {{"body", {int64_t(1)}}, {"operands", {Argument::List{}}}});
  ASSERT_FALSE(args);
  EXPECT_EQ(args.error().text(),
            "[higher_order.apply] argument 'body' has the wrong type: got an int, expected a graph");
}

TEST(Args, FillsDefaultsAndExpandsSingleNumbers) {
  Schema schema =
      schemaOf("aten::pool(int[2] kernel_size, int[2] stride=[], int[2] padding=1, float p=0.5) -> Tensor");
  auto args = bound(schema, {{"kernel_size", {Argument::List{{int64_t{3}}}}}});
  ASSERT_TRUE(args) << args.error().text();
  EXPECT_EQ(args->integers("kernel_size", 2), Integers({3, 3}));
  EXPECT_EQ(args->integers("stride", 2), Integers());
  EXPECT_EQ(args->integers("padding", 2), Integers({1, 1}));
  EXPECT_EQ(args->floating("p"), 0.5);
}

TEST(Args, TakesNumbersOfAnotherTypeWhereTorchDoes) {
  Schema schema = schemaOf("aten::f(float eps, SymInt n, Scalar s) -> Tensor");
  auto args = bound(schema, {{"eps", {int64_t{1}}}, {"n", {Dim(7)}}, {"s", {true}}});
  ASSERT_TRUE(args) << args.error().text();
  EXPECT_EQ(args->floating("eps"), 1.0);
  EXPECT_TRUE(args->dim("n").is(7));
  EXPECT_EQ(args->scalar("s"), Scalar(true));
}

TEST(Args, NamesTheArgumentThatIsWrong) {
  Schema schema = schemaOf("aten::f(int dim, str? mode=None) -> Tensor");
  EXPECT_EQ(bound(schema, {}).error().message,
            "[aten.f.default] missing argument 'dim': expected a constant int");
  EXPECT_EQ(
      bound(schema, {{"dim", {Dim::expression(0)}}}).error().message,
      "[aten.f.default] argument 'dim' cannot change from call to call: got a number known only at run time, "
      "expected a constant int (an int of the call that dynamic_shapes leaves out is one: export a program "
      "for "
      "each value)");
  EXPECT_EQ(bound(schema, {{"dim", {int64_t{0}}}, {"mode", {2.0}}}).error().message,
            "[aten.f.default] argument 'mode' has the wrong type: got a float, expected a string");
  EXPECT_EQ(bound(schema, {{"dim", {int64_t{0}}}, {"axis", {int64_t{1}}}}).error().message,
            "[aten.f.default] unknown argument 'axis': got an int, expected only the arguments of "
            "aten::f(int dim, str? mode=None) -> Tensor");
  EXPECT_TRUE(bound(schema, {{"dim", {int64_t{0}}}, {"axis", {}}})); // a newer torch's argument, at None
}

TEST(Args, TakesDefaultsOfEveryKind) {
  Schema schema =
      schemaOf("aten::f(int reduction=Mean, MemoryFormat? layout=contiguous_format, int[] dims=[1, 2], "
               "str mode=\"sum\", bool? flag=None, Tensor?[] masks=[None]) -> Tensor");
  auto args = bound(schema, {});
  ASSERT_TRUE(args) << args.error().text();
  EXPECT_EQ(args->integer("reduction"), 1);
  EXPECT_EQ(args->get("layout").as<Opaque>()->text, "contiguous_format");
  EXPECT_EQ(args->integers("dims"), Integers({1, 2}));
  EXPECT_EQ(args->string("mode"), "sum");
  EXPECT_TRUE(args->isNone("flag"));
  EXPECT_EQ(args->optionalTensors("masks"), Values(1));
  EXPECT_TRUE(args->has("dims"));
  EXPECT_FALSE(args->has("dim"));
}

TEST(Args, RefusesTypesThatNoLoweringTakes) {
  Schema schema = schemaOf("aten::f(int[] dims, complex z, Dict(str, int) table) -> Tensor");
  auto errorOf = [&](const std::vector<Named> &given) { return bound(schema, given).error().message; };
  Named dims{"dims", {Argument::List{{int64_t{1}}}}};
  EXPECT_EQ(errorOf({}), "[aten.f.default] missing argument 'dims': expected a constant int");
  EXPECT_EQ(
      errorOf({{"dims", {Argument::List{{2.0}}}}}),
      "[aten.f.default] argument 'dims' has the wrong type: got a float, expected a list of which each is "
      "a constant int");
  EXPECT_EQ(errorOf({dims, {"z", {2.0}}}), "[aten.f.default] argument 'z' has the wrong type: got a float, "
                                           "expected what no lowering takes");
}

} // namespace
} // namespace torchere::lowering
