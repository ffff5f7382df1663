// The table that plugins of our own begin with: errors, events, checks of arguments, functions that are not
// there.
#include "pjrt/plugin_table.h"

#include "pjrt/completion.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <thread>

namespace torchere::pjrt {
namespace {

const Api &table() {
  static const Api api = makeTable();
  return api;
}

/// The error's code and message; destroys it.
std::pair<int, std::string> take(Error *error) {
  EXPECT_NE(error, nullptr);
  if (!error)
    return {};
  ErrorMessageArgs message;
  message.error = error;
  table().errorMessage(&message);
  ErrorGetCodeArgs code;
  code.error = error;
  EXPECT_EQ(table().errorGetCode(&code), nullptr);
  std::pair<int, std::string> taken{code.code, std::string(message.message, message.messageSize)};
  ErrorDestroyArgs destroy;
  destroy.error = error;
  table().errorDestroy(&destroy);
  return taken;
}
using Answer = std::pair<int, std::string>;

TEST(PluginTable, FunctionsThatAreNotThereSayTheirNames) {
  ClientCompileArgs compile;
  EXPECT_EQ(take(table().clientCompile(&compile)),
            Answer(12, "[PJRT_Client_Compile] the plugin does not have this function"));
  DevicePoisonExecutionArgs poison;
  EXPECT_EQ(take(table().devicePoisonExecution(&poison)),
            Answer(12, "[PJRT_Device_PoisonExecution] the plugin does not have this function"));
#define TORCHERE_CHECK_FILLED(member, Args, name) EXPECT_NE(table().member, nullptr) << name;
  TORCHERE_PJRT_FUNCTIONS(TORCHERE_CHECK_FILLED)
#undef TORCHERE_CHECK_FILLED
}

TEST(PluginTable, ChecksTheStructures) {
  EXPECT_EQ(take(table().clientCompile(nullptr)),
            Answer(3, "[PJRT_Client_Compile] no structure of arguments: got null"));
  ClientCompileArgs compile;
  compile.structSize = 48;
  EXPECT_EQ(
      take(table().clientCompile(&compile)),
      Answer(3,
             "[PJRT_Client_Compile] structure of arguments too short: got 48 bytes, expected at least 56"));
  compile.structSize = 1000; // a newer caller's
  EXPECT_EQ(take(table().clientCompile(&compile)).first, 12);
  ClientCreateArgs create;
  create.structSize = offsetof(ClientCreateArgs, keyValueTryGet); // an older caller's
  EXPECT_EQ(take(table().clientCreate(&create)).first, 12);
  EventAwaitArgs await;
  EXPECT_EQ(take(table().eventAwait(&await)), Answer(3, "[PJRT_Event_Await] no event: got null"));
}

Status throwMemory(ClientDestroyArgs &) {
  throw std::bad_alloc();
}
Status throwOther(ClientDestroyArgs &) {
  throw std::runtime_error("broken");
}
Status failWithSubject(ClientDestroyArgs &) {
  return tl::unexpected(torchere::Error{ErrorCode::OutOfRange, "[subject] wrong", "model.py:3"});
}

TEST(PluginTable, NothingIsThrownAtTheCaller) {
  Api api = makeTable();
  ClientDestroyArgs args;
  TORCHERE_PJRT_FILL(api, clientDestroy, throwMemory);
  EXPECT_EQ(take(api.clientDestroy(&args)), Answer(8, "[PJRT_Client_Destroy] no memory"));
  TORCHERE_PJRT_FILL(api, clientDestroy, throwOther);
  EXPECT_EQ(take(api.clientDestroy(&args)), Answer(13, "[PJRT_Client_Destroy] broken"));
  TORCHERE_PJRT_FILL(api, clientDestroy, failWithSubject);
  EXPECT_EQ(take(api.clientDestroy(&args)), Answer(11, "[subject] wrong; at model.py:3"));
}

/// Destroys the event at the end.
struct OwnedEvent {
  explicit OwnedEvent(Event *event) : event(event) {}
  ~OwnedEvent() {
    EventDestroyArgs args;
    args.event = event;
    EXPECT_EQ(table().eventDestroy(&args), nullptr);
  }
  OwnedEvent(const OwnedEvent &) = delete;
  bool isReady() const {
    EventIsReadyArgs args;
    args.event = event;
    EXPECT_EQ(table().eventIsReady(&args), nullptr);
    return args.isReady;
  }
  Event *event;
};

TEST(Events, AreReadyWhenTheWorkIsDone) {
  auto completion = std::make_shared<Completion>();
  OwnedEvent event(makeEvent(completion));
  EXPECT_FALSE(event.isReady());
  EventErrorArgs error;
  error.event = event.event;
  EXPECT_EQ(take(table().eventError(&error)), Answer(9, "[PJRT_Event_Error] the event is not ready"));
  std::thread worker([&] { completion->set({}); });
  EventAwaitArgs await;
  await.event = event.event;
  EXPECT_EQ(table().eventAwait(&await), nullptr);
  worker.join();
  EXPECT_TRUE(event.isReady());
  EXPECT_EQ(table().eventError(&error), nullptr);
}

TEST(Events, CarryErrors) {
  OwnedEvent event(makeEvent(Completion::done(fail(ErrorCode::DataLoss, "[work] lost"))));
  EventAwaitArgs await;
  await.event = event.event;
  EXPECT_EQ(take(table().eventAwait(&await)), Answer(15, "[work] lost"));
  EventErrorArgs error;
  error.event = event.event;
  EXPECT_EQ(take(table().eventError(&error)), Answer(15, "[work] lost"));
}

/// Appends what the callback gets to the list of answers that is its argument; "ready" without an error.
void record(Error *error, void *answers) {
  static_cast<std::vector<Answer> *>(answers)->push_back(error ? take(error) : Answer(0, "ready"));
}

TEST(Events, CallBackBeforeAndAfter) {
  std::vector<Answer> answers;
  auto completion = std::make_shared<Completion>();
  EventOnReadyArgs args;
  args.callback = record;
  args.argument = &answers;
  {
    OwnedEvent event(makeEvent(completion));
    args.event = event.event;
    EXPECT_EQ(table().eventOnReady(&args), nullptr);
  }
  EXPECT_TRUE(answers.empty());
  completion->set(fail(ErrorCode::Aborted, "[work] stopped")); // the event is gone, who asked is told
  EXPECT_EQ(answers, std::vector<Answer>{Answer(10, "[work] stopped")});
  OwnedEvent event(makeEvent(Completion::done()));
  args.event = event.event;
  EXPECT_EQ(table().eventOnReady(&args), nullptr);
  EXPECT_EQ(answers.back(), Answer(0, "ready"));
}

TEST(Events, ThatTheCallerMakesAreSetOnce) {
  EventCreateArgs create;
  ASSERT_EQ(table().eventCreate(&create), nullptr);
  OwnedEvent event(create.event);
  EXPECT_FALSE(event.isReady());
  EventSetArgs set;
  set.event = event.event;
  set.code = 17;
  EXPECT_EQ(take(table().eventSet(&set)), Answer(3, "[PJRT_Event_Set] no such code of an error: got 17"));
  set.code = 5;
  set.message = "gone";
  set.messageSize = 4;
  EXPECT_EQ(table().eventSet(&set), nullptr);
  EXPECT_EQ(take(table().eventSet(&set)), Answer(9, "[PJRT_Event_Set] the event is ready already"));
  EventErrorArgs error;
  error.event = event.event;
  EXPECT_EQ(take(table().eventError(&error)), Answer(5, "[PJRT_Event_Error] gone"));
}

} // namespace
} // namespace torchere::pjrt
