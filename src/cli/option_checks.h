// Checks of the numbers that options of `torchere` take. CLI11 wraps negative ones for unsigned types, and
// its own sign check prints the largest double in full.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>

namespace torchere::cli {

/// The check of an option whose value is at least 0: "got -1, expected the id of a device: ...".
template <class Number> std::function<std::string(const std::string &)> isAtLeastZero(std::string expected) {
  return [expected = std::move(expected)](const std::string &text) -> std::string {
    Number number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    bool isRead = error == std::errc() && end == text.data() + text.size();
    if (isRead && std::isfinite(static_cast<double>(number)) && number >= 0)
      return "";
    return "got " + text + ", expected " + expected;
  };
}

} // namespace torchere::cli
