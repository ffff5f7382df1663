// Schema: what is read of ATen's schema language, its text, and the errors.
#include "schema/schema.h"

#include <gtest/gtest.h>

namespace torchere::schema {
namespace {

using Sets = std::vector<std::string>;

Schema schemaOf(std::string_view text) {
  Result<Schema> schema = Schema::parse(text);
  EXPECT_TRUE(schema) << schema.error().text();
  return schema ? *std::move(schema) : Schema{};
}

Type typeOf(const std::string &text) {
  return schemaOf("aten::f(" + text + " x) -> ()").arguments.at(0).type;
}

TEST(Schema, ReadsNamesTypesAndDefaults) {
  Schema schema =
      schemaOf("aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, "
               "bool ceil_mode=False, float eps=1e-05, *, str? mode=None, Layout layout=strided) -> Tensor");
  EXPECT_EQ(schema.name, "aten.max_pool2d.default");
  EXPECT_EQ(schema.overload, "");
  ASSERT_EQ(schema.arguments.size(), 8u);
  EXPECT_EQ(schema.arguments[1].type.kind, TypeKind::List);
  EXPECT_EQ(schema.arguments[1].type.size, 2);
  EXPECT_EQ(schema.arguments[1].type.leaf().kind, TypeKind::Int);
  EXPECT_FALSE(schema.arguments[1].defaultValue);
  EXPECT_TRUE(schema.arguments[2].defaultValue->as<DefaultValue::List>()->empty());
  EXPECT_EQ(*schema.arguments[3].defaultValue->as<int64_t>(), 0);
  EXPECT_EQ(*schema.arguments[4].defaultValue->as<bool>(), false);
  EXPECT_EQ(*schema.arguments[5].defaultValue->as<double>(), 1e-05);
  EXPECT_FALSE(schema.arguments[5].isKeywordOnly);
  EXPECT_TRUE(schema.arguments[6].isKeywordOnly);
  EXPECT_TRUE(schema.arguments[6].type.isOptional());
  EXPECT_TRUE(schema.arguments[6].defaultValue->isNone());
  EXPECT_EQ(schema.arguments[7].defaultValue->as<NamedValue>()->name, "strided");
  EXPECT_EQ(schema.position("eps"), 5u);
  EXPECT_EQ(schema.position("epsilon"), 8u);
  EXPECT_EQ(schema.source.substr(0, 24), "aten::max_pool2d(Tensor ");
}

TEST(Schema, ReadsCallablesWithoutOverloads) {
  std::string text = "higher_order::cond(Tensor pred, Graph true_fn, Any[] operands) -> Any[]";
  Schema schema = schemaOf(text);
  EXPECT_EQ(schema.name, "higher_order.cond");
  EXPECT_EQ(schema.arguments[1].type.kind, TypeKind::Graph);
  EXPECT_EQ(schema.arguments[2].type.kind, TypeKind::List);
  EXPECT_EQ(schema.arguments[2].type.leaf().kind, TypeKind::Any);
  EXPECT_EQ(schema.text(), text);
  EXPECT_EQ(schemaOf("_operator::lt(SymInt a, SymInt b) -> bool").name, "_operator.lt");
  EXPECT_EQ(schemaOf("torch::sym_not(Tensor a) -> bool").name, "torch.sym_not");
}

TEST(Schema, ReadsAliasSets) {
  Schema schema = schemaOf("aten::split.Tensor(Tensor(a -> *) self, SymInt split_size) -> Tensor(a)[]");
  EXPECT_EQ(schema.name, "aten.split.Tensor");
  EXPECT_EQ(schema.overload, "Tensor");
  EXPECT_EQ(schema.arguments[0].type.alias, (AliasSet{Sets{"a"}, Sets{"*"}, false}));
  EXPECT_FALSE(schema.arguments[0].type.isWritten());
  EXPECT_FALSE(schema.results[0].type.alias);
  EXPECT_EQ(schema.results[0].type.elements[0].alias, (AliasSet{Sets{"a"}, Sets{"a"}, false}));
  EXPECT_FALSE(schema.arguments[1].type.alias);

  schema = schemaOf(
      "aten::f(Tensor(a!)[] out, Tensor(b!)? grad, t[](c) list, Tensor(d! -> d|e) z) -> Tensor(a|b)");
  EXPECT_TRUE(schema.arguments[0].type.isWritten());
  EXPECT_TRUE(schema.arguments[1].type.isWritten());
  EXPECT_EQ(schema.arguments[1].type.required().alias, (AliasSet{Sets{"b"}, Sets{"b"}, true}));
  EXPECT_EQ(schema.arguments[2].type.alias, (AliasSet{Sets{"c"}, Sets{"c"}, false}));
  EXPECT_EQ(schema.arguments[3].type.alias, (AliasSet{Sets{"d"}, Sets{"d", "e"}, true}));
  EXPECT_EQ(schema.results[0].type.alias, (AliasSet{Sets{"a", "b"}, Sets{"a", "b"}, false}));
}

TEST(Schema, ReadsTypesMadeOfOthers) {
  Type type = typeOf("Tensor?[]");
  EXPECT_EQ(type.kind, TypeKind::List);
  EXPECT_TRUE(type.elements[0].isOptional());
  EXPECT_EQ(type.leaf().kind, TypeKind::Tensor);
  type = typeOf("int[1]?");
  EXPECT_TRUE(type.isOptional());
  EXPECT_EQ(type.required().kind, TypeKind::List);
  EXPECT_EQ(type.required().size, 1);
  type = typeOf("Dict(str, (Tensor, t)[])");
  EXPECT_EQ(type.kind, TypeKind::Generic);
  EXPECT_EQ(type.name, "Dict");
  EXPECT_EQ(type.elements[1].elements[0].kind, TypeKind::Tuple);
  EXPECT_EQ(type.elements[1].elements[0].elements[1].kind, TypeKind::Other);
  EXPECT_EQ(typeOf("__torch__.torch.classes.c10d.Work").name, "__torch__.torch.classes.c10d.Work");
  EXPECT_EQ(typeOf("Generator?").leaf().kind, TypeKind::Opaque);
}

TEST(Schema, ReadsTypesThatNoTensorOpTakes) {
  for (const char *name : {"PyObject", "Capsule", "Quantizer", "QScheme", "Storage", "Stream"}) {
    EXPECT_EQ(typeOf(name).kind, TypeKind::Other);
    EXPECT_EQ(typeOf(name).text(), name);
  }
}

TEST(Schema, ReadsResultsAndMore) {
  Schema schema = schemaOf("aten::max.dim(Tensor self, int dim) -> (Tensor values, Tensor indices)");
  ASSERT_EQ(schema.results.size(), 2u);
  EXPECT_EQ(schema.results[1].name, "indices");
  EXPECT_TRUE(schemaOf("aten::f() -> ()").results.empty());
  EXPECT_EQ(schemaOf("aten::f() -> Tensor out").results[0].name, "out");
  schema = schemaOf("prim::PythonOp(int x, ...) -> ...");
  EXPECT_TRUE(schema.takesMore && schema.givesMore);
  EXPECT_EQ(schema.arguments.size(), 1u);
  EXPECT_EQ(schemaOf("aten::items(t x) -> ((str, t)[])").results.size(), 1u);
}

TEST(Schema, PrintsAsTorchDoes) {
  for (const char *text :
       {"aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
        "aten::f(int[2]? x=[1, 1], float y=0.10000000000000001, float z=1., float w=-0., str "
        "s=\"a\\\"\\'\\\\\\001\\n\") "
        "-> ()",
        "aten::items(Dict(str, t)(a!) self, ...) -> ((str, t)[])", "aten::f(*, Tensor(a!) out) -> Tensor(a!)",
        "prim::f(...) -> ...", "prim::f(Tensor(a -> *)? x=None) -> (Tensor(b|a) y, bool[3])",
        "aten::f(float x=1e+20, float y=inf, float z=nan, bool b=True, MemoryFormat m=preserve_format) -> "
        "int"})
    EXPECT_EQ(schemaOf(text).text(), text);
  EXPECT_EQ(schemaOf("aten::f( Tensor self,*,float eps = 1e-5, str m='x') ->Tensor").text(),
            "aten::f(Tensor self, *, float eps=1.0000000000000001e-05, str m=\"x\") -> Tensor");
  EXPECT_EQ(schemaOf("aten::f(int n=99999999999999999999) -> ()").text(), "aten::f(int n=1e+20) -> ()");
}

std::string errorOf(std::string_view text) {
  Result<Schema> schema = Schema::parse(text);
  return schema ? "no error" : schema.error().message;
}

TEST(Schema, NamesThePlaceOfBadText) {
  const std::pair<const char *, const char *> cases[] = {
      {"", "at column 1: got the end, expected a namespace"},
      {"aten:x() -> ()", "at column 5: got ':', expected '::'"},
      {"aten::(Tensor self)", "at column 7: got '(', expected an op's name"},
      {"aten::x.(Tensor self)", "at column 9: got '(', expected an overload's name"},
      {"aten::x(Tensor self)", "at column 21: got the end, expected '->'"},
      {"aten::x(Tensor self) -> Tensor, int", "at column 31: got ',', expected the end"},
      {"aten::x(Tensr self) -> Tensor", "at column 9: got 'Tensr', expected a type"},
      {"aten::x(Tensor) -> Tensor", "at column 15: got ')', expected an argument's name"},
      {"aten::x(Tensor(a! self) -> ()", "at column 19: got 's', expected ')'"},
      {"aten::x(Tensor(!) self) -> ()", "at column 16: got '!', expected an alias set"},
      {"aten::x(int[-1] a) -> ()", "at column 13: got '-', expected a list's size"},
      {"aten::x(int[2 a) -> ()", "at column 15: got 'a', expected ']'"},
      {"aten::x(int a=) -> ()", "at column 15: got ')', expected a default value"},
      {"aten::x(int a=[1, ) -> ()", "at column 19: got ')', expected a default value"},
      {"aten::x(str a=\"b) -> ()", "at column 24: got the end, expected '\"'"},
      {"aten::x(str a=\"\\q\") -> ()", "at column 17: got 'q', expected a character that can be escaped"},
      {"aten::x(str a=\"\\777\") -> ()", "at column 17: got '7', expected a character that can be escaped"},
      {"aten::x(Dict a) -> ()", "at column 14: got 'a', expected '('"},
      {"aten::x(..., int a) -> ()", "at column 12: got ',', expected ')'"},
      {"aten::x() -> (int, int", "at column 23: got the end, expected ')'"},
  };
  for (const auto &[text, expected] : cases)
    EXPECT_EQ(errorOf(text), fmt::format("[schema \"{}\"] unreadable {}", text, expected));
}

TEST(Schema, BoundsLengthAndNesting) {
  std::string brackets(200, '['), parentheses(200, '('), lists;
  for (int i = 0; i < 40; ++i)
    lists += "[]";
  std::string nested = ": got nesting that goes on, expected at most 32 levels";
  EXPECT_TRUE(errorOf("aten::x(int a=" + brackets).ends_with(nested));
  EXPECT_TRUE(errorOf("aten::x(" + parentheses).ends_with(nested));
  EXPECT_TRUE(errorOf("aten::x(int" + lists + " a) -> ()").ends_with(nested));
  EXPECT_EQ(errorOf("aten::x(int" + lists.substr(0, 62) + " a) -> ()"), "no error");
  EXPECT_EQ(errorOf(std::string(20000, 'a')),
            "[schema \"" + std::string(40, 'a') +
                "...\"] too long: got 20000 characters, expected at most 16384");
  EXPECT_EQ(errorOf(std::string(300, 'a')),
            "[schema \"" + std::string(200, 'a') +
                "...\"] unreadable at column 301: got the end, expected '::'");
}

} // namespace
} // namespace torchere::schema
