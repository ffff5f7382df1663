// The limits of the lazy device, which the user may change, and variables that are on or off.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace torchere::lazy {

enum class Setting : uint8_t {
  PendingOps, ///< ops that may be recorded without a sync, before the device makes one itself
  Programs,   ///< compiled programs that a device keeps
  Calls,      ///< interned calls that nobody uses, kept for the next trace
  Numbers,    ///< numbers that a device keeps as arrays
};

/// From the environment (TORCHERE_LAZY_PENDING_OPS, ...) unless it was set.
int64_t setting(Setting which);
/// Of all settings, by name: "pending_ops", "programs", "calls", "numbers".
std::map<std::string, int64_t> settings();
/// An exception of torch's for an unknown name, and for a value below 1.
void changeSetting(const std::string &name, int64_t value);

/// Whether an environment variable is given and not "0".
bool isSet(const char *variable);

} // namespace torchere::lazy
