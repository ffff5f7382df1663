// TextCursor: what parsers of a text token by token start from: a place in it, and the errors that name it.
#pragma once

#include "base/error.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace torchere {

/// Spaces are skipped before a token is looked for; which characters these are differs from text to text.
class TextCursor {
protected:
  /// `kind` is what errors call the text.
  TextCursor(std::string_view kind, std::string_view text, std::string_view spaces)
      : text(text), kind(kind), spaces(spaces) {}

  void skipSpaces() {
    while (position < text.size() && spaces.find(text[position]) != spaces.npos)
      ++position;
  }
  bool atEnd() {
    skipSpaces();
    return position == text.size();
  }
  bool peek(std::string_view token) {
    skipSpaces();
    return text.substr(position).starts_with(token);
  }
  bool take(std::string_view token) {
    bool found = peek(token);
    position += found ? token.size() : 0;
    return found;
  }
  Status expect(std::string_view token) {
    if (take(token))
      return {};
    return failAt(fmt::format("'{}'", token));
  }
  /// The next character, be it a space; '\0' at the end.
  char next() const { return position < text.size() ? text[position] : '\0'; }

  /// `[expression "s0 +"] unreadable at column 5: got the end, expected a number`.
  TORCHERE_EXPORT tl::unexpected<Error> failAt(std::string_view expected);
  TORCHERE_EXPORT tl::unexpected<Error> failAt(size_t place, std::string_view found,
                                               std::string_view expected) const;

  std::string_view text;
  size_t position = 0;

private:
  std::string_view kind;
  std::string_view spaces;
};

} // namespace torchere
