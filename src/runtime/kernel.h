// Kernels of custom calls: functions of the user's libraries, registered with a plugin.
#pragma once

#include "base/error.h"

#include <filesystem>
#include <string>

namespace torchere::runtime {

class Client;

struct Kernel {
  std::string target; ///< the call_target_name of the custom calls
  std::filesystem::path library;
  std::string symbol;   ///< of an XLA_FFI_Handler
  std::string platform; ///< as XLA calls it; empty for the client's own ("Host" for CPUs)
};

/// Registers the kernel for every later compilation of the client's plugin. The library is opened by its path
/// alone, and stays open. Unimplemented where the plugin has no such extension.
TORCHERE_EXPORT Status registerKernel(const Client &client, const Kernel &kernel);

} // namespace torchere::runtime
