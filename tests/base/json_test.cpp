// JSON: strict parsing with places, printing that parses back.
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

} // namespace
} // namespace torchere
