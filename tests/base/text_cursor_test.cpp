// TextCursor: what a token is looked for behind, and the errors.
#include "base/text_cursor.h"

#include <gtest/gtest.h>

namespace torchere {
namespace {

/// A cursor that anybody may use.
struct Cursor : TextCursor {
  explicit Cursor(std::string_view text, std::string_view spaces = " ") : TextCursor("text", text, spaces) {}
  using TextCursor::atEnd, TextCursor::peek, TextCursor::take, TextCursor::expect, TextCursor::failAt,
      TextCursor::next, TextCursor::position;
};

TEST(TextCursor, TakesTokensBehindSpaces) {
  Cursor cursor("  ab -> c ");
  EXPECT_TRUE(cursor.take("a"));
  EXPECT_FALSE(cursor.take("->"));
  EXPECT_TRUE(cursor.peek("b"));
  EXPECT_TRUE(cursor.expect("b"));
  EXPECT_EQ(cursor.next(), ' ');
  EXPECT_TRUE(cursor.take("->"));
  EXPECT_FALSE(cursor.atEnd());
  EXPECT_TRUE(cursor.take("c"));
  EXPECT_TRUE(cursor.atEnd());
  EXPECT_EQ(cursor.next(), '\0');
  EXPECT_FALSE(cursor.peek("c"));
}

TEST(TextCursor, KnowsTheSpacesOfItsText) {
  EXPECT_FALSE(Cursor("\ta").take("a"));
  EXPECT_TRUE(Cursor("\t a", " \t").take("a"));
}

TEST(TextCursor, NamesThePlaceOfAnError) {
  Cursor cursor("a  b");
  EXPECT_TRUE(cursor.take("a"));
  EXPECT_EQ(cursor.expect("c").error().message,
            "[text \"a  b\"] unreadable at column 4: got 'b', expected 'c'");
  EXPECT_TRUE(cursor.take("b"));
  EXPECT_EQ(cursor.failAt("more").value().message,
            "[text \"a  b\"] unreadable at column 5: got the end, expected more");
  EXPECT_EQ(cursor.failAt(0, "an a", "a number").value().message,
            "[text \"a  b\"] unreadable at column 1: got an a, expected a number");
}

TEST(TextCursor, QuotesTheBeginningOfALongText) {
  std::string text(300, 'x');
  EXPECT_EQ(Cursor(text).expect("y").error().message,
            "[text \"" + text.substr(0, 200) + "...\"] unreadable at column 1: got 'x', expected 'y'");
}

} // namespace
} // namespace torchere
