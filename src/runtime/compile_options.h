// CompileOptions: what a compilation asks of the plugin, and its wire form.
#pragma once

#include "base/export.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace torchere::runtime {

struct CompileOptions {
  /// The id of the device that the program runs on; by default the client's first.
  std::optional<int> device;
  /// XLA's own flags by name ("xla_cpu_enable_fast_min_max"), which override the plugin's defaults.
  std::map<std::string, bool> switches = {};
  bool operator==(const CompileOptions &) const = default;

  /// The bytes of the CompileOptionsProto message (xla/pjrt/proto/compile_options.proto) that
  /// PJRT_Client_Compile takes: one replica and one partition. Never empty: plugins abort on empty options.
  TORCHERE_EXPORT std::string serialize() const;
};

} // namespace torchere::runtime
