// Profile: what each step of a run took, and the report that callers get.
#pragma once

#include "cpu/frontend/compile.h"

#include <chrono>
#include <unordered_map>

namespace torchere::cpu {

/// Runs steps in the caller's thread. Steps in steps are measured as well.
class Profile final : public Recorder {
public:
  Profile(const CompiledModule &compiled, const Context &context);
  Status run(const Step &step, const Frame &frame) final;
  /// As JSON; docs/engine.md describes it.
  std::string report() const;

private:
  using Clock = std::chrono::steady_clock;
  struct Row {
    const Step *step = nullptr;
    int64_t runs = 0;
    double seconds = 0; ///< without those of the steps in it
  };
  struct Event {
    size_t row = 0;
    double begin = 0, seconds = 0;
  };
  /// Loops may run more steps than anyone looks at.
  static constexpr size_t maxEvents = 100000;

  const CompiledModule &compiled;
  Context context;
  Clock::time_point start = Clock::now();
  std::vector<Row> rows; ///< by the first run
  std::unordered_map<const Step *, size_t> rowOf;
  std::vector<Event> events;
  double inner = 0; ///< seconds of the steps in the current one, so far
};

/// One report of a run in two parts, the second behind the first.
std::string joinReports(const std::string &first, const std::string &second);

} // namespace torchere::cpu
