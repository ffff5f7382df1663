// The errors of TextCursor.
#include "base/text_cursor.h"

namespace torchere {

tl::unexpected<Error> TextCursor::failAt(std::string_view expected) {
  std::string found = atEnd() ? "the end" : fmt::format("'{}'", text[position]);
  return failAt(position, found, expected);
}

tl::unexpected<Error> TextCursor::failAt(size_t place, std::string_view found,
                                         std::string_view expected) const {
  constexpr size_t most = 200;
  return invalidArgument("[{} \"{}{}\"] unreadable at column {}: got {}, expected {}", kind,
                         text.substr(0, most), text.size() > most ? "..." : "", place + 1, found, expected);
}

} // namespace torchere
