// JSON: strict parsing with places, getters that name the key, printing that parses back.
#include "base/json.h"

#include <gtest/gtest.h>

namespace torchere {
namespace {

std::string parseError(std::string_view text, size_t depth = jsonDepthLimit) {
  Result<Json> result = parseJson(text, "f.json", depth);
  if (result)
    return "parsed as " + result->dump();
  EXPECT_EQ(result.error().code, ErrorCode::DataLoss);
  return result.error().message;
}

TEST(ParseJson, ReadsEveryKindOfValue) {
  std::string_view text =
      R"({"a": [1, -2, 2.5, true, null, "x\u00e9"], "b": {"c": {}, "d": []}, "e": 18446744073709551615})";
  EXPECT_EQ(
      parseJson(text, "f")->dump(),
      "{\"a\":[1,-2,2.5,true,null,\"x\xC3\xA9\"],\"b\":{\"c\":{},\"d\":[]},\"e\":18446744073709551615}");
  EXPECT_EQ(parseJson(" 3 ", "f")->dump(), "3");
}

TEST(ParseJson, SaysWhereTheTextIsWrong) {
  EXPECT_EQ(parseError("{\"a\": [1, 2"),
            "[f.json] is not JSON: syntax error while parsing array - unexpected end of "
            "input; expected ']', at byte 12");
  EXPECT_EQ(parseError("{\"a\" 1}"),
            "[f.json] is not JSON: syntax error while parsing object separator - unexpected "
            "number literal; expected ':', at byte 6");
  EXPECT_EQ(parseError(""),
            "[f.json] is not JSON: syntax error while parsing value - unexpected end of input; "
            "expected '[', '{', or a literal, at byte 1");
  std::string trailing = parseError("[1] x");
  EXPECT_EQ(trailing.find("[f.json] is not JSON: syntax error while parsing value - invalid literal"), 0u)
      << trailing;
  EXPECT_NE(trailing.find("expected end of input, at byte 5"), std::string::npos) << trailing;
}

TEST(ParseJson, RefusesWhatIsNotStrict) {
  EXPECT_NE(parseError("[NaN]").find("[f.json] is not JSON: syntax error"), std::string::npos);
  EXPECT_NE(parseError("[1,]").find("at byte 4"), std::string::npos);
  EXPECT_NE(parseError("[1] // x").find("at byte 5"), std::string::npos);
  EXPECT_NE(parseError("[\"\xFF\"]").find("ill-formed UTF-8"), std::string::npos);
  EXPECT_NE(parseError("[1e999]").find("[f.json] is not JSON: "), std::string::npos);
  EXPECT_EQ(parseError("{\"k\": 1, \"k\": 2}"), "[f.json] the key \"k\" stands twice in one object");
}

TEST(ParseJson, LimitsDepth) {
  EXPECT_EQ(parseError("[[[0]]]", 3), "parsed as [[[0]]]");
  EXPECT_EQ(parseError("[{\"a\": [[0]]}]", 3), "[f.json] nests too deeply: expected at most 3 levels");
  EXPECT_EQ(parseError(std::string(1000000, '[')), "[f.json] nests too deeply: expected at most 200 levels");
}

TEST(PrintJson, GivesALineAnElementDownToADepth) {
  OrderedJson value = {{"z", 1}, {"a", {{{"shape", {1, 2}}}, {{"shape", OrderedJson::array()}}}}};
  EXPECT_EQ(printJson(value, 0), R"({"z":1,"a":[{"shape":[1,2]},{"shape":[]}]})");
  EXPECT_EQ(printJson(value, 2), "{\n \"z\": 1,\n \"a\": [\n  {\"shape\":[1,2]},\n  {\"shape\":[]}\n ]\n}");
  EXPECT_EQ(*parseJson(printJson(value, 2), "f"), Json(*parseJson(value.dump(), "f")));
  EXPECT_EQ(printJson(OrderedJson("a\xFF"), 1), "\"a\xEF\xBF\xBD\"");
}

class Cursor : public testing::Test {
protected:
  Json document = *parseJson(R"({"name": "forward", "n": 3, "x": 2.5, "on": true, "none": null, "big": 1e300,
      "huge": 18446744073709551615, "list": [{"dtype": "f32"}, {"dtype": 7}]})",
                             "forward.meta");
  JsonCursor root{document, "forward.meta"};
};

TEST_F(Cursor, GetsTypedValues) {
  EXPECT_EQ(*root.string("name"), "forward");
  EXPECT_EQ(*root.integer("n"), 3);
  EXPECT_TRUE(*root.boolean("on"));
  EXPECT_EQ(*root.member("x")->asFloat(), 2.5);
  EXPECT_EQ(*root.member("n")->asFloat(), 3.0);
  EXPECT_EQ(root.array("list")->size(), 2u);
  EXPECT_EQ(root.array("list")->at(1).place(), "list[1]");
  EXPECT_EQ(*root.array("list")->at(0).string("dtype"), "f32");
  EXPECT_FALSE(root.optionalMember("none")->has_value());
  EXPECT_FALSE(root.optionalMember("missing")->has_value());
  EXPECT_EQ(*(*root.optionalMember("n"))->asInteger(), 3);
  auto members = *root.members();
  EXPECT_EQ(members.size(), 8u);
  EXPECT_EQ(members[0].first, "big");
  EXPECT_EQ(members[0].second.place(), "big");
  EXPECT_TRUE(root.member("none")->isNull());
}

TEST_F(Cursor, ErrorsNameTheKeyWithItsPath) {
  auto second = root.array("list")->at(1);
  EXPECT_EQ(second.string("dtype").error().message,
            "[forward.meta] list[1].dtype: got an integer, expected a string");
  EXPECT_EQ(second.string("shape").error().message, "[forward.meta] list[1]: the key \"shape\" is missing");
  EXPECT_EQ(root.integer("absent").error().message, "[forward.meta] the key \"absent\" is missing");
  EXPECT_EQ(root.integer("x").error().message, "[forward.meta] x: got a float, expected an integer");
  EXPECT_EQ(root.integer("huge").error().message,
            "[forward.meta] huge: got 18446744073709551615, expected a signed 64-bit integer");
  EXPECT_EQ(root.boolean("name").error().message, "[forward.meta] name: got a string, expected a bool");
  EXPECT_EQ(root.array("name").error().message, "[forward.meta] name: got a string, expected an array");
  EXPECT_EQ(root.member("on")->asFloat().error().message, "[forward.meta] on: got a bool, expected a float");
  EXPECT_EQ(root.member("none")->asString().error().message,
            "[forward.meta] none: got null, expected a string");
  EXPECT_EQ(root.member("list")->member("k").error().message,
            "[forward.meta] list: got an array, expected an object");
  EXPECT_EQ(root.member("list")->members().error().message,
            "[forward.meta] list: got an array, expected an object");
  EXPECT_EQ(root.member("n")->optionalMember("k").error().message,
            "[forward.meta] n: got an integer, expected an object");
  EXPECT_EQ(root.asString().error().message, "[forward.meta] got an object, expected a string");
  EXPECT_EQ(root.asString().error().code, ErrorCode::DataLoss);
}

} // namespace
} // namespace torchere
