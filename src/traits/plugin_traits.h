// PluginTraits: what is known about a version of a PJRT plugin beyond what its interface reports, as plain
// data.
#pragma once

#include "base/export.h"

#include <set>
#include <string>
#include <string_view>

namespace torchere {

/// What a plugin is recognized by.
struct PluginIdentity {
  /// PJRT_Client_PlatformName: "cpu", "cuda". Before there is a client, the name under which the plugin was
  /// found.
  std::string platform;
  /// Whether it is built from XLA: all of XLA's plugins have the attribute `xla_version`.
  bool isXla = false;
  /// The minor version of the PJRT C API that it was built with. XLA increments it every few weeks, while the
  /// platform version and `xla_version` stay the same, so it distinguishes XLA's versions.
  int apiMinorVersion = 0;
};

/// Each member is a difference from other plugins. A plugin about which nothing is known has none.
struct PluginTraits {
  /// Its compiler aborts the process on a loop whose counter is added to itself.
  bool abortsOnDoubledCounters = false;
  /// Its vectorized code for atan2(y, 1) computes wrong numbers.
  bool miscomputesAtan2 = false;
  /// It fuses a write into each of its readers, and copies the operand of the repeated writes.
  bool repeatsFusedWrites = false;
  /// `minimum` and `maximum` lose NaN unless the option `xla_cpu_enable_fast_min_max` is off.
  bool losesNaNInMinMax = false;
  /// Its devices are the processor, whatever its platform is called.
  bool isProcessor = false;
  /// The client option that says how many devices the processor is; empty if there is none. Without it XLA's
  /// CPU plugin reports several.
  std::string_view deviceCountOption = {};
  /// Unless the client option `asynchronous` is off, it executes in threads of its own.
  bool executesInOwnThreads = false;
  /// It rounds the operands of float32 products to 10 bits (TF32) unless their precision is HIGHEST.
  bool roundsFloat32Products = false;
  /// A client takes most of the device's memory when it is created unless the option `preallocate` is off.
  bool takesAllMemory = false;
  /// It runs programs in which a size is known only once it is computed.
  bool runsUnknownSizes = false;
  /// It compiles programs whose arguments have open sizes; each call binds them.
  bool bindsOpenSizes = false;
  /// It refuses StableHLO's quantized types.
  bool lacksQuantizedTypes = false;
  /// The names of the composites that it implements.
  std::set<std::string> composites = {};

  bool operator==(const PluginTraits &) const = default;
  /// Different for different traits, for use in cache keys.
  TORCHERE_EXPORT std::string text() const;
};

/// Looks up a plugin in the table in plugin_traits.cpp.
TORCHERE_EXPORT PluginTraits traitsOf(const PluginIdentity &plugin);

} // namespace torchere
