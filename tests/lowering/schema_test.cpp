// Schema and Args: ATen's schema language, binding and its errors.
#include "lowering/args.h"

#include <gtest/gtest.h>

namespace torchere::lowering {
namespace {

TEST(Schema, ReadsNamesTypesAndDefaults) {
  auto schema =
      Schema::parse("aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, "
                    "bool ceil_mode=False, float eps=1e-05, str? mode=None) -> Tensor");
  ASSERT_TRUE(schema) << schema.error().text();
  EXPECT_EQ(schema->name, "aten.max_pool2d.default");
  ASSERT_EQ(schema->arguments.size(), 7u);
  EXPECT_EQ(schema->arguments[1].type.kind, TypeKind::Int);
  EXPECT_TRUE(schema->arguments[1].type.isList);
  EXPECT_FALSE(schema->arguments[1].defaultValue);
  EXPECT_TRUE(schema->arguments[2].defaultValue->as<Argument::List>()->empty());
  EXPECT_EQ(*schema->arguments[3].defaultValue->as<int64_t>(), 0);
  EXPECT_EQ(*schema->arguments[4].defaultValue->as<bool>(), false);
  EXPECT_EQ(*schema->arguments[5].defaultValue->as<double>(), 1e-05);
  EXPECT_TRUE(schema->arguments[6].type.isOptional);
  EXPECT_TRUE(schema->arguments[6].defaultValue->isNone());
}

TEST(Schema, ReadsAliasesOverloadsAndOptionalLists) {
  auto schema =
      Schema::parse("aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]");
  ASSERT_TRUE(schema) << schema.error().text();
  EXPECT_EQ(schema->name, "aten.split.Tensor");
  EXPECT_EQ(schema->arguments[0].name, "self");
  EXPECT_EQ(schema->arguments[0].type.kind, TypeKind::Tensor);

  schema = Schema::parse("aten::index.Tensor(Tensor self, Tensor?[] indices, int[1]? dim) -> Tensor");
  ASSERT_TRUE(schema) << schema.error().text();
  EXPECT_TRUE(schema->arguments[1].type.hasOptionalElements);
  EXPECT_FALSE(schema->arguments[1].type.isOptional);
  EXPECT_TRUE(schema->arguments[2].type.isList);
  EXPECT_TRUE(schema->arguments[2].type.isOptional);
}

TEST(Schema, RefusesMalformedText) {
  EXPECT_EQ(
      Schema::parse("aten::x(Tensor self)").error().message,
      "[aten::x(Tensor self)] malformed schema: expected 'namespace::name.overload(arguments) -> results'");
  EXPECT_EQ(Schema::parse("aten::x(Tensr self) -> Tensor").error().message,
            "[aten.x.default] unknown type in schema: got 'Tensr'");
}

Schema schemaOf(std::string_view text) {
  return *Schema::parse(text);
}

TEST(Args, FillsDefaultsAndExpandsSingleNumbers) {
  Schema schema =
      schemaOf("aten::pool(int[2] kernel_size, int[2] stride=[], int[2] padding=1, float p=0.5) -> Tensor");
  auto args = Args::bind(schema, {{"kernel_size", {Argument::List{{int64_t{3}}}}}});
  ASSERT_TRUE(args) << args.error().text();
  EXPECT_EQ(args->integers("kernel_size", 2), Integers({3, 3}));
  EXPECT_EQ(args->integers("stride", 2), Integers());
  EXPECT_EQ(args->integers("padding", 2), Integers({1, 1}));
  EXPECT_EQ(args->floating("p"), 0.5);
}

TEST(Args, TakesNumbersOfAnotherTypeWhereTorchDoes) {
  Schema schema = schemaOf("aten::f(float eps, SymInt n, Scalar s) -> Tensor");
  auto args = Args::bind(schema, {{"eps", {int64_t{1}}}, {"n", {Dim(7)}}, {"s", {true}}});
  ASSERT_TRUE(args) << args.error().text();
  EXPECT_EQ(args->floating("eps"), 1.0);
  EXPECT_TRUE(args->dim("n").is(7));
  EXPECT_EQ(args->scalar("s"), Scalar(true));
}

TEST(Args, NamesTheArgumentThatIsWrong) {
  Schema schema = schemaOf("aten::f(int dim, str? mode=None) -> Tensor");
  EXPECT_EQ(Args::bind(schema, {}).error().message,
            "[aten.f.default] missing argument 'dim': expected a constant int");
  EXPECT_EQ(
      Args::bind(schema, {{"dim", {Dim::expression(0)}}}).error().message,
      "[aten.f.default] argument 'dim' has the wrong type: got a size known only at run time, expected a "
      "constant int");
  EXPECT_EQ(Args::bind(schema, {{"dim", {int64_t{0}}}, {"mode", {2.0}}}).error().message,
            "[aten.f.default] argument 'mode' has the wrong type: got a float, expected a string");
  EXPECT_EQ(Args::bind(schema, {{"dim", {int64_t{0}}}, {"axis", {int64_t{1}}}}).error().message,
            "[aten.f.default] unknown argument 'axis': got an int, expected only the arguments of "
            "aten::f(int dim, str? mode=None) -> Tensor");
  EXPECT_TRUE(Args::bind(schema, {{"dim", {int64_t{0}}}, {"axis", {}}})); // a newer torch's argument, at None
}

} // namespace
} // namespace torchere::lowering
