// Reads Python stack traces: pairs of a `File "...", line N, in f` line and the source line under it.
#include "program/stack_trace.h"

#include <algorithm>
#include <vector>

namespace torchere::program {

static std::string_view strip(std::string_view text) {
  constexpr std::string_view spaces = " \t\n\r\f\v";
  size_t first = text.find_first_not_of(spaces);
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

static std::vector<std::string_view> splitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (;;) {
    size_t end = text.find('\n');
    lines.push_back(strip(text.substr(0, end)));
    if (end == std::string_view::npos)
      return lines;
    text.remove_prefix(end + 1);
  }
}

/// Reads `File "model.py", line 31, in forward`.
static std::optional<StackFrame> parseHeader(std::string_view line) {
  constexpr std::string_view opening = "File \"", middle = "\", line ", closing = ", in ";
  if (!line.starts_with(opening))
    return std::nullopt;
  // Uses the last possible split, because a file name may contain the separator.
  for (size_t at = line.rfind(middle); at != std::string_view::npos && at > opening.size();
       at = line.rfind(middle, at - 1)) {
    std::string_view rest = line.substr(at + middle.size());
    size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    std::string_view tail = rest.substr(digits);
    if (digits > 0 && tail.starts_with(closing) && tail.size() > closing.size())
      return StackFrame{line.substr(opening.size(), at - opening.size()),
                        rest.substr(0, digits),
                        tail.substr(closing.size()),
                        {}};
  }
  return std::nullopt;
}

/// The innermost frame that `accepts`, among the lines before `end`. The last header lacks a line of code
/// where the source could not be read.
template <class Predicate>
static std::optional<StackFrame> findFrame(const std::vector<std::string_view> &lines, size_t end,
                                           Predicate accepts) {
  for (size_t i = end; i-- > 0;) {
    std::optional<StackFrame> frame = parseHeader(lines[i]);
    if (!frame)
      continue;
    if (i + 1 < lines.size())
      frame->code = lines[i + 1];
    if (accepts(*frame))
      return frame;
  }
  return std::nullopt;
}

static bool isTorchFile(std::string_view file) {
  constexpr std::string_view parts[] = {
      "site-packages/torch/", "dist-packages/torch/", "/torch/nn/",    "/torch/_",
      "/torch/fx/",           "/torch/utils/",        "/torch/export/"};
  return file.starts_with("torch/") ||
         std::any_of(std::begin(parts), std::end(parts),
                     [&](std::string_view part) { return file.find(part) != std::string_view::npos; });
}

std::optional<StackFrame> innermostFrame(std::string_view trace) {
  std::vector<std::string_view> lines = splitLines(strip(trace));
  return findFrame(lines, lines.size() - 1, [](const StackFrame &) { return true; });
}

std::optional<StackFrame> userFrame(std::string_view trace) {
  std::vector<std::string_view> lines = splitLines(strip(trace));
  return findFrame(lines, lines.size(), [](const StackFrame &frame) {
    return !frame.file.starts_with('<') && !isTorchFile(frame.file);
  });
}

} // namespace torchere::program
