// Logging to stderr, at the level that the environment variable TORCHERE_LOG sets.
#include "base/log.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace torchere {

static constexpr std::array<std::string_view, 5> levelNames = {"off", "error", "warning", "info", "debug"};

std::atomic<int> logThreshold{-1};

std::optional<LogLevel> logLevelFromName(std::string_view name) {
  for (size_t index = 0; index < levelNames.size(); ++index)
    if (levelNames[index] == name)
      return static_cast<LogLevel>(index);
  return std::nullopt;
}

void setLogLevel(LogLevel level) {
  logThreshold.store(static_cast<int>(level), std::memory_order_relaxed);
}

int readLogLevel() {
  const char *text = std::getenv("TORCHERE_LOG");
  std::optional<LogLevel> asked = text ? logLevelFromName(text) : std::nullopt;
  int level = static_cast<int>(asked.value_or(LogLevel::Warning));
  int unread = -1;
  if (!logThreshold.compare_exchange_strong(unread, level))
    return unread; // another thread was first
  if (text && *text && !asked)
    writeLogLine(LogLevel::Warning, "TORCHERE_LOG",
                 fmt::format("is no level: got \"{}\", expected off, error, warning, info or debug", text));
  return level;
}

void writeLogLine(LogLevel level, std::string_view subject, std::string_view message) {
  std::string line =
      fmt::format("torchere {} [{}] {}\n", levelNames[static_cast<size_t>(level)], subject, message);
  std::fwrite(line.data(), 1, line.size(), stderr); // one call: lines of several threads do not interleave
}

} // namespace torchere
