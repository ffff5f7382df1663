// The table of plugins and their traits.
#include "traits/plugin_traits.h"

#include <fmt/ranges.h>

#include <limits>

namespace torchere {

namespace {

/// One trait of XLA's plugins, in a range of their versions.
struct Row {
  std::string_view platform; ///< empty: any
  int first, last;           ///< minor versions of the PJRT C API
  bool PluginTraits::*trait;
};

/// No version is known in which the plugin does better.
constexpr int open = std::numeric_limits<int>::max();

} // namespace

// The versions tried are 0.115, the CPU plugin that `torchere plugins install` fetches, and the XLA of jaxlib
// 0.10.2, which is older. tests/session/plugin_traits_test.cpp and tests/passes/prepare_test.py tell when a
// row can be closed, or go; but for losesNaNInMinMax, of which no form is known that 0.115 has: those tried
// keep NaN without the switch, or, as large reductions do, lose it with the switch as well.
static constexpr Row rows[] = {
    {"", 0, 114, &PluginTraits::abortsOnDoubledCounters},   {"cpu", 0, open, &PluginTraits::miscomputesAtan2},
    {"cpu", 0, open, &PluginTraits::repeatsFusedWrites},    {"cpu", 0, open, &PluginTraits::losesNaNInMinMax},
    {"cpu", 0, open, &PluginTraits::needsCpuClientOptions},
};

PluginTraits traitsOf(const PluginIdentity &plugin) {
  PluginTraits traits;
  for (const Row &row : rows)
    if (plugin.isXla && (row.platform.empty() || row.platform == plugin.platform) &&
        row.first <= plugin.apiMinorVersion && plugin.apiMinorVersion <= row.last)
      traits.*row.trait = true;
  return traits;
}

std::string PluginTraits::text() const {
  // A member that is missing here does not compile.
  const auto &[counters, atan2, writes, minMax, clientOptions, known] = *this;
  return fmt::format("{:d}{:d}{:d}{:d}{:d} {}", counters, atan2, writes, minMax, clientOptions,
                     fmt::join(known, " "));
}

} // namespace torchere
