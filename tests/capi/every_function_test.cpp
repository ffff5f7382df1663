// Each function that takes a handle, with handles that are not there and with null for all else: codes, no
// crash.
#include "capi_fixture.h"

#include <functional>

namespace torchere::capi {
namespace {

using Call = std::function<torchere_status(void *handle)>;

/// The functions of a kind of handle; what they are given beside it is null or 0.
struct Functions {
  const char *kind;
  std::vector<Call> calls;
};

template <class Handle, class... Rest> Call on(torchere_status (*function)(Handle, Rest...)) {
  return [function](void *handle) { return function(static_cast<Handle>(handle), Rest{}...); };
}

std::vector<Functions> everyFunction() {
  return {{"plugins", {on(torchere_plugins_count), on(torchere_plugins_get)}},
          {"client", {on(torchere_client_get_info), on(torchere_client_get_device)}},
          {"program",
           {on(torchere_program_clone), on(torchere_program_get_client), on(torchere_program_get_device),
            on(torchere_program_function_count), on(torchere_program_find_function),
            on(torchere_program_get_function), on(torchere_program_get_input),
            on(torchere_program_get_output), on(torchere_program_find_input),
            on(torchere_program_find_output), on(torchere_call), on(torchere_call_async),
            on(torchere_array_create), on(torchere_program_state_count), on(torchere_program_get_state),
            on(torchere_program_read), on(torchere_program_snapshot), on(torchere_program_restore)}},
          {"result",
           {on(torchere_result_count), on(torchere_result_find), on(torchere_result_get),
            on(torchere_result_data), on(torchere_result_read), on(torchere_result_array),
            on(torchere_result_is_ready), on(torchere_result_on_ready)}},
          {"array",
           {on(torchere_array_get), on(torchere_array_is_ready), on(torchere_array_data),
            on(torchere_array_read)}}};
}

/// Those that need nothing but the handle.
std::vector<Functions> functionsOfHandlesAlone() {
  return {{"plugins", {on(torchere_plugins_destroy)}},
          {"client", {on(torchere_client_destroy)}},
          {"program",
           {on(torchere_call_into), on(torchere_program_write), on(torchere_program_reset),
            on(torchere_program_manual_seed), on(torchere_program_destroy)}},
          {"result", {on(torchere_result_wait), on(torchere_result_destroy)}},
          {"array", {on(torchere_array_wait), on(torchere_array_destroy)}},
          {"snapshot", {on(torchere_snapshot_destroy)}}};
}

class EveryFunction : public CapiTest {
protected:
  void SetUp() override {
    CapiTest::SetUp();
    torchere_program program = load("identity");
    torchere_tensor x = tensor({1, 2}, {2});
    torchere_input given = input({1, 2}, {2});
    torchere_plugins plugins = nullptr;
    torchere_client other = nullptr;
    torchere_result result = nullptr;
    torchere_array array = nullptr;
    torchere_snapshot snapshot = nullptr;
    ASSERT_EQ(torchere_plugins_create(&plugins), TORCHERE_OK);
    ASSERT_EQ(torchere_program_get_client(program, &other), TORCHERE_OK);
    ASSERT_EQ(torchere_call(program, 0, &given, 1, &result), TORCHERE_OK);
    ASSERT_EQ(torchere_array_create(program, &x, &array), TORCHERE_OK);
    ASSERT_EQ(torchere_program_snapshot(program, &snapshot), TORCHERE_OK);
    handles = {{"plugins", plugins}, {"client", other}, {"program", program},
               {"result", result},   {"array", array},  {"snapshot", snapshot}};
  }
  void TearDown() override {
    for (const auto &[kind, calls] : functionsOfHandlesAlone())
      calls.back()(handleOf(kind)); // destroys
    CapiTest::TearDown();
  }
  void *handleOf(const std::string &kind) {
    for (const auto &[name, handle] : handles)
      if (name == kind)
        return handle;
    return nullptr;
  }
  void expectRefused(const std::vector<Functions> &functions,
                     const std::function<void *(const std::string &)> &handle) {
    for (const auto &[kind, calls] : functions)
      for (size_t i = 0; i < calls.size(); ++i)
        EXPECT_EQ(calls[i](handle(kind)), TORCHERE_INVALID_ARGUMENT) << kind << ", function " << i;
  }
  std::vector<std::pair<std::string, void *>> handles;
};

TEST_F(EveryFunction, RefusesNullHandles) {
  expectRefused(everyFunction(), [](const std::string &) { return nullptr; });
  expectRefused(functionsOfHandlesAlone(), [](const std::string &) { return nullptr; });
}

TEST_F(EveryFunction, RefusesHandlesOfAnotherKind) {
  auto another = [&](const std::string &kind) { return handleOf(kind == "result" ? "program" : "result"); };
  expectRefused(everyFunction(), another);
  expectRefused(functionsOfHandlesAlone(), another);
}

TEST_F(EveryFunction, RefusesDestroyedHandles) {
  for (const auto &[kind, calls] : functionsOfHandlesAlone())
    EXPECT_EQ(calls.back()(handleOf(kind)), TORCHERE_OK);
  expectRefused(everyFunction(), [&](const std::string &kind) { return handleOf(kind); });
  expectRefused(functionsOfHandlesAlone(), [&](const std::string &kind) { return handleOf(kind); });
}

/// A result's and an array's data may be asked for without a place for them only if they are empty.
TEST_F(EveryFunction, RefusesNullForAllElse) {
  std::vector<Functions> functions = everyFunction();
  for (const auto &[kind, calls] : functions)
    for (size_t i = 0; i < calls.size(); ++i) {
      torchere_status status = calls[i](handleOf(kind));
      EXPECT_TRUE(status == TORCHERE_INVALID_ARGUMENT || status == TORCHERE_OUT_OF_RANGE)
          << kind << ", function " << i << ": " << torchere_status_name(status);
    }
}

} // namespace
} // namespace torchere::capi
