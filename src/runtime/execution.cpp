// Execution: the plugin's event as a stored status, and the search for the first failure.
#include "runtime/execution.h"

#include "base/log.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace torchere::runtime {

static constexpr std::string_view action = "executing the program failed";

namespace {
/// What the plugin's callback holds.
struct Watch {
  std::shared_ptr<Execution> execution;
  std::shared_ptr<RunningCount> running;
  ~Watch() {
    execution.reset(); // before the client can be destroyed
    running->fetch_sub(1);
    running->notify_all();
  }
};
} // namespace

std::shared_ptr<Execution> Execution::watch(const Plugin &plugin, pjrt::Event *event, Origin origin,
                                            std::vector<std::shared_ptr<Execution>> inputs,
                                            std::shared_ptr<RunningCount> running) {
  std::shared_ptr<Execution> execution(new Execution(plugin, event, std::move(origin), std::move(inputs)));
  running->fetch_add(1);
  auto watch = std::make_unique<Watch>(execution, std::move(running));
  pjrt::EventOnReadyArgs args;
  args.event = event;
  args.callback = onReady;
  args.argument = watch.get();
  if (pjrt::Error *refused = plugin.api().eventOnReady(&args)) {
    plugin.discard(refused);
    (void)execution->wait(); // nobody would report the end; errors are reported where results are read
  } else {
    (void)watch.release(); // now owned by onReady()
  }
  return execution;
}

void Execution::onReady(pjrt::Error *error, void *argument) {
  std::unique_ptr<Watch> watch(static_cast<Watch *>(argument));
  Execution &self = *watch->execution;
  self.end(error ? self.plugin.takeError(error, self.origin.name, action) : Status{});
}

Status Execution::wait() {
  if (!hasEnded()) {
    pjrt::EventAwaitArgs args;
    args.event = event;
    end(plugin.call(plugin.api().eventAwait, args, origin.name, action));
  }
  return outcome();
}

/// Called by the callback and by waiting threads; the first one sets the outcome.
void Execution::end(Status status) {
  std::vector<std::shared_ptr<Execution>> dropped; // destroyed outside the lock
  std::vector<std::function<void(Status)>> called; // likewise
  {
    std::lock_guard lock(mutex);
    if (hasEnded())
      return;
    if (status)
      dropped.swap(inputs);
    else
      error = Error{status.error().code, std::move(status.error().message), origin.place};
    called.swap(listeners);
    ended.store(true, std::memory_order_release);
  }
  for (const std::function<void(Status)> &listener : called)
    listener(outcome());
}

void Execution::whenEnded(std::function<void(Status)> listener) {
  {
    std::lock_guard lock(mutex);
    if (!hasEnded()) {
      listeners.push_back(std::move(listener));
      return;
    }
  }
  listener(outcome());
}

std::shared_ptr<Execution> Execution::cause() {
  std::vector<std::shared_ptr<Execution>> candidates;
  {
    std::lock_guard lock(mutex);
    candidates = inputs;
  }
  for (std::shared_ptr<Execution> &input : candidates) {
    if (!input->hasEnded()) { // it has for the plugin: its callback is on the way
      pjrt::EventAwaitArgs args;
      args.event = input->event;
      input->end(plugin.call(plugin.api().eventAwait, args, input->origin.name, action));
    }
    if (input->error)
      return std::move(input);
  }
  return nullptr;
}

/// Called after the end. Iterative, because there may be many executions between a failure and its reader.
Status Execution::outcome() {
  if (!error)
    return {};
  isTold = true;
  std::shared_ptr<Execution> first;
  for (std::shared_ptr<Execution> next = cause(); next; next = first->cause()) {
    next->isTold = true;
    first = next;
  }
  return tl::unexpected(first ? *first->error : *error);
}

Execution::~Execution() {
  if (!plugin.process().isForked()) {
    if (error && !isTold && !cause())
      TORCHERE_LOG_LINE(Warning, "call", "nobody read the results of a call that failed: {}", error->text());
    plugin.destroy(event);
  }
  while (!inputs.empty()) { // iterative for the same reason
    std::shared_ptr<Execution> last = std::move(inputs.back());
    inputs.pop_back();
    if (last.use_count() > 1)
      continue;
    if (last->error && last->cause())
      last->isTold = true; // its link to the failure that caused its own is cut below
    std::move(last->inputs.begin(), last->inputs.end(), std::back_inserter(inputs));
    last->inputs.clear();
  }
}

} // namespace torchere::runtime
