// What plugins of this package have beyond PJRT.
#pragma once

#include "pjrt/executable_arguments.h"

#include <string_view>

namespace torchere::pjrt {

/// The plugin's attribute, a bool: its programs have uses for arguments that are marked as weights.
inline constexpr std::string_view weightsAttribute = "torchere_weights";

// Numbers of no other plugin's extensions: theirs begin at 0.
inline constexpr auto profileExtensionType = static_cast<ExtensionType>(0x54434850);

struct ProfileExecuteArgs {
  TORCHERE_PJRT_HEADER(ProfileExecuteArgs, destroy);
  LoadedExecutableExecuteArgs *execute = nullptr; ///< as of PJRT_LoadedExecutable_Execute, on one device
  const char *report = nullptr;                   ///< JSON; set by the plugin
  size_t reportSize = 0;
  void *held = nullptr; ///< to be passed to `destroy`, which both are set by the plugin
  void (*destroy)(void *held) = nullptr;
};

struct ProfileExtension {
  Extension base;
  /// Executes, and returns when the results are there.
  Error *(*execute)(ProfileExecuteArgs *);
};

inline constexpr auto ffiTableExtensionType = static_cast<ExtensionType>(0x54434646);

/// For kernels with handlers of several stages, which the FFI extension has no room for.
struct FfiTableExtension {
  Extension base;
  const void *table; ///< XLA_FFI_Api
};

} // namespace torchere::pjrt
