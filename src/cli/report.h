// Report: a subcommand's output on stdout, as text for people or as one JSON document.
#pragma once

#include "base/error.h"
#include "base/json.h"

#include <optional>
#include <string>
#include <vector>

namespace torchere::cli {

class Report {
public:
  explicit Report(bool asJson) : asJson(asJson) {}

  bool isJson() const { return asJson; }
  /// A line of the text; not shown with --json.
  template <class... Args> void line(fmt::format_string<Args...> format, Args &&...args) {
    if (!asJson)
      text += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }
  /// Lines of the text in columns, two spaces apart.
  void table(const std::vector<std::vector<std::string>> &rows, std::string_view indent = "");
  /// The document of --json; not shown without.
  OrderedJson json = OrderedJson::object();
  /// Marks the outcome as a failure: the report is still written, and the program fails.
  std::optional<Error> failure;

  /// Writes the text or the document to stdout. Fails when it cannot be written, as on a full disk.
  Status write() const;

private:
  bool asJson;
  std::string text;
};

/// 46.8 MB as "46.8 MB": powers of 1000, as disks and `ls --si` count.
std::string byteSizeText(uint64_t bytes);

} // namespace torchere::cli
