// Variables of the environment.
#pragma once

#include <cstdlib>
#include <string_view>

namespace torchere::runtime {

/// Empty if it is not set.
inline std::string_view environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

} // namespace torchere::runtime
