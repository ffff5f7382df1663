// FakeControl: what the fake plugin of the tests recorded, and what it is told to do.
#pragma once

#include "pjrt/api.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <string>
#include <vector>

namespace torchere::runtime {

/// The plugin's programs are the identity: result i is a copy of argument i. An execution of which an
/// argument was not computed, because that execution failed, fails as well. It may be called from several
/// threads; tests read and write this when no other thread does.
struct FakeControl {
  std::vector<std::string> calls;              ///< names of the functions called, in order
  std::string platform = "fake";               ///< the name of clients to come
  std::map<std::string, std::string> options;  ///< those of the last client, as text
  std::string compileOptions, program, format; ///< of the last compilation
  std::string stored = "stored executable";    ///< what executables are serialized to
  std::string loaded;                          ///< the last executable that was deserialized
  std::vector<int64_t> kept;                   ///< inputs not to be donated in the last execution
  int live = 0; ///< errors, events, clients, executables, their stored forms and buffers not yet destroyed

  std::string failing; ///< the function that answers an error: "PJRT_Client_Create"
  int errorCode = 13;
  std::string failingEvent; ///< the function whose event ends in an error
  size_t outputCount = 1;
  bool onCpu = true;
  bool columnMajor = false;
  int resultType = -1;          ///< the element type that buffers claim; -1: their own
  bool donates = false;         ///< executions overwrite and delete the arguments that are not kept
  bool holdsHostMemory = false; ///< the events of host memory stay unready until release() is called
  bool holdsExecutions = false; ///< executions do not begin until release() is called
  std::vector<pjrt::Event *> held;
  std::function<void()> onAwait;   ///< called by each wait for an event, before it waits
  std::function<void()> onCompile; ///< called by each compilation, several at a time, before anything else
};

/// While it lives, compilations wait for one another: the first two go on when both are there.
class MeetingOfCompilations {
public:
  explicit MeetingOfCompilations(FakeControl &control) : control(control) {
    control.onCompile = [this] {
      if (++compiling == 2)
        bothCompile.set_value();
      // The limit is what a test that fails takes.
      met += both.wait_for(std::chrono::seconds(60)) == std::future_status::ready;
    };
  }
  ~MeetingOfCompilations() { control.onCompile = nullptr; }
  MeetingOfCompilations(const MeetingOfCompilations &) = delete;
  MeetingOfCompilations &operator=(const MeetingOfCompilations &) = delete;

  std::atomic<int> met = 0; ///< the compilations that were not alone

private:
  FakeControl &control;
  std::atomic<int> compiling = 0;
  std::promise<void> bothCompile;
  std::shared_future<void> both = bothCompile.get_future().share();
};

/// Exported by the fake plugin.
extern "C" FakeControl *fakeControl();
/// Runs the held executions, in order, makes the held events ready and calls their callbacks.
extern "C" void fakeRelease();

} // namespace torchere::runtime
