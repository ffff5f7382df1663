// Execution: an execution that was started without waiting for it: its end and its error.
#pragma once

#include "runtime/plugin.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace torchere::runtime {

/// What errors say about an execution, which may be read far from where it was started.
struct Origin {
  std::string name;  ///< of the function
  std::string place; ///< of the call in the user's source: "train.py:31"; empty when it is not known
};

/// The executions of one client that have not ended; it can wait until there are none.
using RunningCount = std::atomic<int64_t>;

/// Shared by the results of one execution, and used from any thread. An error is returned to everyone who
/// asks, every time; if nobody asked, it is logged.
class Execution {
public:
  /// Takes the event of the execution's end. `inputs` are the executions that compute its arguments: if one
  /// of them fails, this one fails with its error. Does not refer to the client, which must not be destroyed
  /// on one of the plugin's threads.
  static std::shared_ptr<Execution> watch(const Plugin &plugin, pjrt::Event *event, Origin origin,
                                          std::vector<std::shared_ptr<Execution>> inputs,
                                          std::shared_ptr<RunningCount> running);
  ~Execution();
  Execution(const Execution &) = delete;
  Execution &operator=(const Execution &) = delete;

  bool hasEnded() const { return ended.load(std::memory_order_acquire); }
  /// Waits for the end. The error is that of the first failed execution in the chain of inputs.
  Status wait();
  /// The same without waiting: success while it is running.
  Status failure() { return hasEnded() ? outcome() : Status{}; }
  /// Calls once with the outcome: now if it has ended, otherwise on the thread that learns of the end, which
  /// may be the plugin's.
  void whenEnded(std::function<void(Status)> listener);

private:
  Execution(const Plugin &plugin, pjrt::Event *event, Origin origin,
            std::vector<std::shared_ptr<Execution>> inputs)
      : plugin(plugin), event(event), origin(std::move(origin)), inputs(std::move(inputs)) {}
  static void onReady(pjrt::Error *error, void *argument);
  void end(Status status);
  Status outcome();
  /// For a failed execution: an input whose failure caused this one; null if it failed by itself.
  std::shared_ptr<Execution> cause();

  const Plugin &plugin; // never unloaded
  pjrt::Event *const event;
  const Origin origin;

  std::atomic<bool> ended = false;
  std::atomic<bool> isTold = false;
  std::mutex mutex;
  std::optional<Error> error;                         ///< set once it has ended
  std::vector<std::shared_ptr<Execution>> inputs;     ///< kept until it has ended successfully
  std::vector<std::function<void(Status)>> listeners; ///< none once it has ended
};

} // namespace torchere::runtime
