// Counting the ops in the text of a module, without parsing it.
#include "cli/op_count.h"

namespace torchere::cli {

/// The op that a line starts with, after its results ("%0:2 = "); empty when it starts with none. An op in
/// MLIR's generic form is quoted.
static std::string_view opOfLine(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  if (line.starts_with('%')) {
    size_t equals = line.find(" = ");
    if (equals == std::string_view::npos)
      return {};
    line.remove_prefix(equals + 3);
  }
  if (line.starts_with('"'))
    line.remove_prefix(1);
  size_t end = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.");
  std::string_view name = line.substr(0, end);
  return name.starts_with("stablehlo.") || name.starts_with("chlo.") ? name : std::string_view();
}

std::map<std::string, size_t> countOps(std::string_view moduleText) {
  std::map<std::string, size_t> counts;
  while (!moduleText.empty()) {
    size_t end = moduleText.find('\n');
    std::string_view name = opOfLine(moduleText.substr(0, end));
    // A reduction prints its body's one op on its own line, and its region's end as "stablehlo.return".
    if (!name.empty() && name != "stablehlo.return")
      ++counts[std::string(name)];
    moduleText.remove_prefix(end == std::string_view::npos ? moduleText.size() : end + 1);
  }
  return counts;
}

} // namespace torchere::cli
