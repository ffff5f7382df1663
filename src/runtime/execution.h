// Execution: an execution that nobody waited for when it was started: its end, and what went wrong in it.
#pragma once

#include "runtime/plugin.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace torchere::runtime {

/// What errors say of an execution, which may be read far from where it was started.
struct Origin {
  std::string name;  ///< of the function
  std::string place; ///< of the call in the user's source: "train.py:31"; empty when it is not known
};

/// Executions that have not ended, of one client, which waits for none to be left.
using RunningCount = std::atomic<int64_t>;

/// Shared by the results of one execution, and used from any thread. A failure is told to everybody who asks,
/// as often as they ask; the log tells of one that nobody asked for.
class Execution {
public:
  /// Takes the event of the execution's end. `inputs` are the executions that its arguments are results of:
  /// where one of them failed, this one fails with that error. Does not refer to the client, which may not be
  /// destroyed by a thread of the plugin's.
  static std::shared_ptr<Execution> watch(const Plugin &plugin, pjrt::Event *event, Origin origin,
                                          std::vector<std::shared_ptr<Execution>> inputs,
                                          std::shared_ptr<RunningCount> running);
  ~Execution();
  Execution(const Execution &) = delete;
  Execution &operator=(const Execution &) = delete;

  bool hasEnded() const { return ended.load(std::memory_order_acquire); }
  /// Waits for the end. The error is that of the first execution on the way here that failed.
  Status wait();
  /// The same without waiting: success while it runs.
  Status failure() { return hasEnded() ? outcome() : Status{}; }

private:
  Execution(const Plugin &plugin, pjrt::Event *event, Origin origin,
            std::vector<std::shared_ptr<Execution>> inputs)
      : plugin(plugin), event(event), origin(std::move(origin)), inputs(std::move(inputs)) {}
  static void onReady(pjrt::Error *error, void *argument);
  void end(Status status);
  Status outcome();
  /// Of a failed execution: one whose failure made this one fail; null where it failed of itself.
  std::shared_ptr<Execution> cause();

  const Plugin &plugin; // never unloaded
  pjrt::Event *const event;
  const Origin origin;

  std::atomic<bool> ended = false;
  std::atomic<bool> isTold = false;
  std::mutex mutex;
  std::optional<Error> error;                     ///< of this execution, once it has ended
  std::vector<std::shared_ptr<Execution>> inputs; ///< until it has ended well
};

} // namespace torchere::runtime
