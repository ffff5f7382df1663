// The names of input sources and output destinations in .signature.json.
#pragma once

#include "program/entry_point.h"

#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace torchere::artifact {

/// In the order of program::InputSource.
inline constexpr std::array<std::string_view, 4> inputSourceNames = {"user_input", "parameter", "buffer",
                                                                     "constant"};
/// In the order of program::OutputDestination.
inline constexpr std::array<std::string_view, 5> outputDestinationNames = {
    "user_output", "buffer", "parameter", "user_input", "check"};

template <class Enum> std::string_view nameOf(std::span<const std::string_view> names, Enum value) {
  return names[static_cast<size_t>(value)];
}

template <class Enum>
std::optional<Enum> valueOf(std::span<const std::string_view> names, std::string_view name) {
  for (size_t index = 0; index < names.size(); ++index)
    if (names[index] == name)
      return static_cast<Enum>(index);
  return std::nullopt;
}

} // namespace torchere::artifact
