// PluginTraits: what is known of a version of a PJRT plugin beyond what its interface says, as plain data.
#pragma once

#include "base/export.h"

#include <set>
#include <string>

namespace torchere {

/// Whom traits are known of.
struct PluginIdentity {
  /// PJRT_Client_PlatformName: "cpu", "cuda". Before there is a client, the name that the plugin goes by.
  std::string platform;
  /// Whether it is built from XLA, whose plugins all have the attribute `xla_version`.
  bool isXla = false;
  /// The minor version of the PJRT C API that it was built with. XLA's rises every few weeks, while its
  /// platform's version and `xla_version` stay: it is what tells XLA's versions apart.
  int apiMinorVersion = 0;
};

/// Each member names what the plugin does and others do not. A plugin of which nothing is known has none.
struct PluginTraits {
  /// Its compiler aborts the process on a loop whose counter is added to itself.
  bool abortsOnDoubledCounters = false;
  /// What it compiles atan2(y, 1) of vectors to gives wrong numbers.
  bool miscomputesAtan2 = false;
  /// It fuses a write into each of its readers, and copies what is then written more than once.
  bool repeatsFusedWrites = false;
  /// `minimum` and `maximum` lose NaN, unless its switch `xla_cpu_enable_fast_min_max` is off.
  bool losesNaNInMinMax = false;
  /// Without the client's options `asynchronous` and `cpu_device_count`, it executes in threads of its own
  /// and makes several devices of one processor.
  bool needsCpuClientOptions = false;
  /// The composites that it has an implementation of, by name.
  std::set<std::string> composites = {};

  bool operator==(const PluginTraits &) const = default;
  /// Different for different traits: for keys of what is made by them.
  TORCHERE_EXPORT std::string text() const;
};

/// What the table in plugin_traits.cpp knows of a plugin.
TORCHERE_EXPORT PluginTraits traitsOf(const PluginIdentity &plugin);

} // namespace torchere
