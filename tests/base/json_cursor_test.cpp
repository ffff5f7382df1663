// JsonCursor: typed reads, errors that name the key with its path, and a first failure that is sticky.
#include "base/json_cursor.h"

#include <gtest/gtest.h>

namespace torchere {
namespace {

constexpr std::string_view text =
    R"({"name": "forward", "n": 3, "x": 2.5, "on": true, "none": null, "least": -9223372036854775808,
        "most": 9223372036854775807, "huge": 18446744073709551615,
        "list": [{"dtype": "f32", "sizes": [2, 3]}, {"dtype": 7, "sizes": [4, "5"]}]})";

/// The message of what `read` does wrong with a document of its own.
template <class Read> std::string failureOf(Read &&read) {
  JsonDocument document(text, "forward.meta");
  read(document.root());
  Status status = document.root().finish();
  EXPECT_EQ(document.root().failed(), !status.has_value());
  if (status)
    return "";
  EXPECT_EQ(status.error().code, ErrorCode::DataLoss);
  return status.error().message;
}

TEST(JsonCursor, ReadsTypedValues) {
  JsonDocument document(text, "forward.meta");
  JsonCursor root = document.root();
  EXPECT_EQ(root.subject(), "forward.meta");
  EXPECT_EQ(root.text("name"), "forward");
  EXPECT_EQ(root.integer("n"), 3);
  EXPECT_EQ(root.integer("least"), INT64_MIN);
  EXPECT_EQ(root.integer("most"), INT64_MAX);
  EXPECT_TRUE(root.boolean("on"));
  EXPECT_EQ(root.member("x").number(), 2.5);
  EXPECT_EQ(root.member("n").number(), 3.0);
  EXPECT_TRUE(root.member("none").json().is_null());
  EXPECT_EQ(root.array("list").size(), 2u);
  EXPECT_EQ(root.array("list")[0].text("dtype"), "f32");
  int64_t sum = 0;
  for (JsonCursor size : root.array("list")[0].array("sizes"))
    sum += size.integer();
  EXPECT_EQ(sum, 5);
  EXPECT_TRUE(root.finish().has_value());
}

TEST(JsonCursor, ReadsOptionalMembers) {
  JsonDocument document(text, "forward.meta");
  JsonCursor root = document.root();
  EXPECT_FALSE(root.optional("none").has_value());
  EXPECT_FALSE(root.optional("missing").has_value());
  EXPECT_EQ(root.optional("n")->integer(), 3);
  EXPECT_EQ(root.integer("n", -1), 3);
  EXPECT_EQ(root.integer("none", -1), -1);
  EXPECT_EQ(root.text("name", "other"), "forward");
  EXPECT_EQ(root.text("missing", "other"), "other");
  EXPECT_TRUE(root.boolean("on", false));
  EXPECT_TRUE(root.boolean("missing", true));
  EXPECT_TRUE(root.finish().has_value());
}

TEST(JsonCursor, ErrorsNameTheKeyWithItsPath) {
  auto second = [](JsonCursor root) { return root.array("list")[1]; };
  EXPECT_EQ(failureOf([&](JsonCursor root) { second(root).text("dtype"); }),
            "[forward.meta] list[1].dtype: got an integer, expected a string");
  EXPECT_EQ(failureOf([&](JsonCursor root) { second(root).text("dtype", ""); }),
            "[forward.meta] list[1].dtype: got an integer, expected a string");
  EXPECT_EQ(failureOf([&](JsonCursor root) { second(root).text("shape"); }),
            "[forward.meta] list[1]: the key \"shape\" is missing");
  EXPECT_EQ(failureOf([&](JsonCursor root) { second(root).array("sizes")[1].integer(); }),
            "[forward.meta] list[1].sizes[1]: got a string, expected an integer");
  EXPECT_EQ(failureOf([&](JsonCursor root) { second(root).fail("got {}, expected {}", 1, 2); }),
            "[forward.meta] list[1]: got 1, expected 2");
  EXPECT_EQ(failureOf([](JsonCursor root) { root.integer("absent"); }),
            "[forward.meta] the key \"absent\" is missing");
  EXPECT_EQ(failureOf([](JsonCursor root) { root.text(); }),
            "[forward.meta] got an object, expected a string");
}

TEST(JsonCursor, ErrorsNameTheKind) {
  EXPECT_EQ(failureOf([](JsonCursor root) { root.integer("x"); }),
            "[forward.meta] x: got a float, expected an integer");
  EXPECT_EQ(failureOf([](JsonCursor root) { root.integer("huge"); }),
            "[forward.meta] huge: got 18446744073709551615, expected a signed 64-bit integer");
  EXPECT_EQ(failureOf([](JsonCursor root) { root.boolean("name"); }),
            "[forward.meta] name: got a string, expected a bool");
  EXPECT_EQ(failureOf([](JsonCursor root) { root.array("name"); }),
            "[forward.meta] name: got a string, expected an array");
  EXPECT_EQ(failureOf([](JsonCursor root) { root.member("on").number(); }),
            "[forward.meta] on: got a bool, expected a float");
  EXPECT_EQ(failureOf([](JsonCursor root) { root.text("none"); }),
            "[forward.meta] none: got null, expected a string");
  EXPECT_EQ(failureOf([](JsonCursor root) { root.member("list").member("k"); }),
            "[forward.meta] list: got an array, expected an object");
  EXPECT_EQ(failureOf([](JsonCursor root) { root.member("n").optional("k"); }),
            "[forward.meta] n: got an integer, expected an object");
}

TEST(JsonCursor, TheFirstFailureIsSticky) {
  JsonDocument document(text, "forward.meta");
  JsonCursor root = document.root();
  JsonCursor name = root.member("name");
  JsonElements list = root.array("list");
  root.integer("x");
  EXPECT_TRUE(name.failed());
  name.fail("is another");
  root.member("missing").array("missing");
  EXPECT_EQ(name.text(), "");
  EXPECT_EQ(root.integer("n"), 0);
  EXPECT_EQ(root.integer("n", 7), 7);
  EXPECT_FALSE(root.boolean("on"));
  EXPECT_EQ(root.member("n").number(), 0);
  EXPECT_TRUE(name.json().is_null());
  EXPECT_FALSE(root.optional("n").has_value());
  EXPECT_EQ(list.size(), 0u);
  EXPECT_TRUE(list[1].json().is_null());
  EXPECT_EQ(root.take(Result<int64_t>(fail(ErrorCode::NotFound, "later"))), 0);
  for (const JsonCursor &cursor : {root, name})
    EXPECT_EQ(cursor.finish().error().message, "[forward.meta] x: got a float, expected an integer");
}

TEST(JsonCursor, ALoopEndsAtAFailure) {
  int rounds = 0;
  EXPECT_EQ(failureOf([&](JsonCursor root) {
              for (JsonCursor element : root.array("list")) {
                element.text("missing");
                ++rounds;
              }
            }),
            "[forward.meta] list[0]: the key \"missing\" is missing");
  EXPECT_EQ(rounds, 1);
}

TEST(JsonCursor, TakesOtherErrorsUnchanged) {
  EXPECT_EQ(failureOf([](JsonCursor root) {
              EXPECT_EQ(root.take(Result<int64_t>(5)), 5);
              root.take(Status());
              EXPECT_EQ(root.take(Result<int64_t>(fail(ErrorCode::DataLoss, "[other] is wrong"))), 0);
            }),
            "[other] is wrong");
}

TEST(JsonCursor, AnErrorOfTheTextIsAFailure) {
  JsonDocument document("{", "f.json");
  EXPECT_EQ(document.root().text("name"), "");
  std::string message = document.root().finish().error().message;
  EXPECT_EQ(message.find("[f.json] is not JSON: syntax error"), 0u) << message;
}

} // namespace
} // namespace torchere
