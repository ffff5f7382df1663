// Logging to stderr, at the level that the environment variable TORCHERE_LOG sets.
#pragma once

#include "base/export.h"

#include <fmt/format.h>

#include <atomic>
#include <optional>
#include <string_view>

namespace torchere {

/// TORCHERE_LOG=off|error|warning|info|debug; without it, warnings and errors are shown.
enum class LogLevel : int { Off, Error, Warning, Info, Debug };

/// The level of a name, if it is one.
TORCHERE_EXPORT std::optional<LogLevel> logLevelFromName(std::string_view name);

/// The current level; -1 until the environment has been read.
TORCHERE_EXPORT extern std::atomic<int> logThreshold;

TORCHERE_EXPORT void setLogLevel(LogLevel level);
/// Reads TORCHERE_LOG (once); an invalid level is reported and ignored.
TORCHERE_EXPORT int readLogLevel();
/// Writes "torchere LEVEL [subject] message" as one line.
TORCHERE_EXPORT void writeLogLine(LogLevel level, std::string_view subject, std::string_view message);

inline bool logs(LogLevel level) {
  int threshold = logThreshold.load(std::memory_order_relaxed);
  return static_cast<int>(level) <= (threshold < 0 ? readLogLevel() : threshold);
}

/// `TORCHERE_LOG_LINE(Info, "runtime", "compiled in {} ms", ms)`: arguments are evaluated only when shown.
#define TORCHERE_LOG_LINE(level, subject, ...)                                                               \
  do {                                                                                                       \
    if (::torchere::logs(::torchere::LogLevel::level))                                                       \
      ::torchere::writeLogLine(::torchere::LogLevel::level, subject, ::fmt::format(__VA_ARGS__));            \
  } while (false)

} // namespace torchere
