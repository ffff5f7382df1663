// The table of plugins and their traits.
#include "traits/plugin_traits.h"

#include <fmt/ranges.h>

#include <limits>

namespace torchere {

namespace {

/// One trait of XLA's plugins, for a range of versions.
struct Row {
  std::string_view platform; ///< empty: any platform
  int first, last;           ///< minor versions of the PJRT C API
  bool PluginTraits::*trait;
};

/// No version is known that does not need the workaround.
constexpr int open = std::numeric_limits<int>::max();

} // namespace

// The versions tested are 0.115, which is the CPU plugin that `torchere plugins install` fetches, and the
// older XLA of jaxlib 0.10.2. tests/session/plugin_traits_test.cpp and tests/passes/prepare_test.py fail when
// a row can be closed or deleted. losesNaNInMinMax is the exception, as no case is known in which 0.115 needs
// the option: the forms tried either keep NaN without it or, as large reductions do, lose NaN even with it.
static constexpr Row rows[] = {
    {"", 0, 114, &PluginTraits::abortsOnDoubledCounters},
    {"cpu", 0, open, &PluginTraits::miscomputesAtan2},
    {"cpu", 0, open, &PluginTraits::repeatsFusedWrites},
    {"cpu", 0, open, &PluginTraits::losesNaNInMinMax},
    {"cpu", 0, open, &PluginTraits::isProcessor},
    {"cpu", 0, open, &PluginTraits::executesInOwnThreads},
    {"", 0, open, &PluginTraits::lacksQuantizedTypes},
    {"cuda", 0, open, &PluginTraits::roundsFloat32Products},
    {"cuda", 0, open, &PluginTraits::takesAllMemory},
};

PluginTraits traitsOf(const PluginIdentity &plugin) {
  PluginTraits traits;
  for (const Row &row : rows)
    if (plugin.isXla && (row.platform.empty() || row.platform == plugin.platform) &&
        row.first <= plugin.apiMinorVersion && plugin.apiMinorVersion <= row.last)
      traits.*row.trait = true;
  bool isOurs = plugin.platform == "interpreter" || plugin.platform == "torchere_cpu";
  bool isEngine = !plugin.isXla && plugin.platform == "torchere_cpu";
  traits.runsUnknownSizes = !plugin.isXla && isOurs;
  traits.bindsOpenSizes = isEngine;
  traits.isProcessor |= isEngine;
  if (traits.isProcessor)
    traits.deviceCountOption = isEngine ? "device_count" : "cpu_device_count";
  return traits;
}

std::string PluginTraits::text() const {
  // Does not compile if a member is missing here.
  const auto &[counters, atan2, writes, minMax, processor, countOption, threads, products, memory,
               unknownSizes, openSizes, quantized, known] = *this;
  return fmt::format("{:d}{:d}{:d}{:d}{:d}{:d}{:d}{:d}{:d}{:d}{:d} {} {}", counters, atan2, writes, minMax,
                     processor, threads, products, memory, unknownSizes, openSizes, quantized, countOption,
                     fmt::join(known, " "));
}

} // namespace torchere
