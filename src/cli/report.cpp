// Report: a subcommand's output on stdout, as text for people or as one JSON document.
#include "cli/report.h"

#include <algorithm>
#include <cstdio>

namespace torchere::cli {

void Report::table(const std::vector<std::vector<std::string>> &rows, std::string_view indent) {
  if (asJson)
    return;
  std::vector<size_t> widths;
  for (const auto &row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], row[column].size());
  }
  for (const auto &row : rows) {
    std::string line(indent);
    for (size_t column = 0; column < row.size(); ++column)
      line += fmt::format("{:<{}}", row[column], widths[column] + 2);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
}

Status Report::write() const {
  std::string document = asJson ? printJson(json, 2) + "\n" : text;
  size_t written = std::fwrite(document.data(), 1, document.size(), stdout);
  if (written != document.size() || std::fflush(stdout) != 0)
    return fail(ErrorCode::Unavailable, "[stdout] cannot be written");
  return {};
}

std::string byteSizeText(uint64_t bytes) {
  if (bytes < 1000)
    return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  const char *unit = "";
  for (const char *next : {"kB", "MB", "GB", "TB", "PB", "EB"}) {
    if (value < 999.95)
      break;
    value /= 1000;
    unit = next;
  }
  return fmt::format("{:.1f} {}", value, unit);
}

} // namespace torchere::cli
