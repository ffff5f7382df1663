// Handles and structures that are wrong: codes and messages, never a crash. And what a look-up costs.
#include "capi/handles.h"
#include "capi_fixture.h"

#include <chrono>
#include <cstdint>
#include <thread>

extern "C" int usesTheHeaderFromC(void);

namespace torchere::capi {
namespace {

using HandlesTest = CapiTest;

TEST_F(HandlesTest, NullAndStaleHandlesAreErrors) {
  size_t count = 0;
  expectError(torchere_program_function_count(nullptr, &count), TORCHERE_INVALID_ARGUMENT,
              "[program] null handle: expected a live one");
  expectError(torchere_program_destroy(nullptr), TORCHERE_INVALID_ARGUMENT,
              "[program] null handle: expected a live one");
  torchere_program program = load("identity");
  EXPECT_EQ(torchere_program_destroy(program), TORCHERE_OK);
  expectError(torchere_program_destroy(program), TORCHERE_INVALID_ARGUMENT,
              "[program] no such handle: it was destroyed, or never made");
  expectError(torchere_program_function_count(program, &count), TORCHERE_INVALID_ARGUMENT,
              "[program] no such handle: it was destroyed, or never made");
  torchere_program next = load("identity");
  EXPECT_NE(next, program);
  expectError(torchere_result_count(reinterpret_cast<torchere_result>(next), &count),
              TORCHERE_INVALID_ARGUMENT, "[result] wrong handle: got one of kind program, expected result");
  EXPECT_EQ(torchere_program_destroy(next), TORCHERE_OK);
  for (uintptr_t invented : {uintptr_t{1}, uintptr_t{3}, ~uintptr_t{0}, uintptr_t{0xfffffff03}})
    EXPECT_EQ(torchere_program_destroy(reinterpret_cast<torchere_program>(invented)),
              TORCHERE_INVALID_ARGUMENT);
}

TEST_F(HandlesTest, EachUseOfASlotHasItsOwnHandle) {
  std::vector<void *> handles;
  for (int round = 0; round < 1000; ++round) {
    void *handle = addHandle(HandleKind::Array, std::make_shared<int>(round));
    EXPECT_EQ(std::find(handles.begin(), handles.end(), handle), handles.end());
    handles.push_back(handle);
    ASSERT_TRUE(removeHandle(HandleKind::Array, "array", handle));
  }
  for (void *handle : handles)
    EXPECT_FALSE(findHandle(HandleKind::Array, "array", handle));
}

TEST_F(HandlesTest, ObjectsLiveWhileTheyAreUsed) {
  auto object = std::make_shared<int>(5);
  std::weak_ptr<int> watched = object;
  void *handle = addHandle(HandleKind::Array, std::move(object));
  auto found = findHandle(HandleKind::Array, "array", handle);
  ASSERT_TRUE(found);
  ASSERT_TRUE(removeHandle(HandleKind::Array, "array", handle));
  EXPECT_FALSE(watched.expired());
  found->reset();
  EXPECT_TRUE(watched.expired());
}

/// The aim is 100 ns; the bound leaves room for busy machines and sanitizers.
TEST_F(HandlesTest, LookingUpIsCheap) {
  void *handle = addHandle(HandleKind::Array, std::make_shared<int>(5));
  constexpr int rounds = 200'000;
  auto start = std::chrono::steady_clock::now();
  for (int round = 0; round < rounds; ++round)
    ASSERT_TRUE(findHandle(HandleKind::Array, "array", handle));
  std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
  RecordProperty("nanoseconds", static_cast<int>(elapsed.count() / rounds));
  std::printf("a look-up takes %.1f ns\n", elapsed.count() / rounds);
  EXPECT_LT(elapsed.count() / rounds, 20'000);
  ASSERT_TRUE(removeHandle(HandleKind::Array, "array", handle));
}

TEST_F(HandlesTest, WrongStructSizesAreErrors) {
  auto options = sized<torchere_load_options>();
  options.struct_size = 3;
  torchere_program program = nullptr;
  std::string expected = std::to_string(sizeof(torchere_load_options));
  std::string path = savedPrograms().path("identity");
  expectError(torchere_program_load(path.c_str(), &options, &program), TORCHERE_INVALID_ARGUMENT,
              "[options] wrong struct_size: got 3, expected " + expected);
  options.struct_size = size_t{1} << 60; // nothing beyond what is known is read
  expectError(torchere_program_load(path.c_str(), &options, &program), TORCHERE_INVALID_ARGUMENT,
              "[options] wrong struct_size: got 1152921504606846976, expected " + expected);
  torchere_client_info info = {};
  expectError(torchere_client_get_info(client, &info), TORCHERE_INVALID_ARGUMENT,
              "[info] wrong struct_size: got 0, expected " + std::to_string(sizeof info));
  expectError(torchere_client_get_info(client, nullptr), TORCHERE_INVALID_ARGUMENT,
              "[info] null pointer: expected an address");
  EXPECT_EQ(program, nullptr);
}

TEST_F(HandlesTest, PathsAndPluginsThatAreNot) {
  torchere_program program = nullptr;
  expectError(torchere_program_load(nullptr, nullptr, &program), TORCHERE_INVALID_ARGUMENT,
              "[path] null pointer: expected an address");
  auto options = sized<torchere_load_options>();
  options.client = client;
  expectError(torchere_program_load("/none", &options, &program), TORCHERE_NOT_FOUND,
              "[/none] does not exist: expected the directory or the file of a saved program");
  options.has_device = 1;
  options.device = 77;
  EXPECT_EQ(torchere_program_load(savedPrograms().path("identity").c_str(), &options, &program),
            TORCHERE_NOT_FOUND);
  auto choice = sized<torchere_client_options>();
  choice.plugin = "/none.so";
  torchere_client other = nullptr;
  EXPECT_EQ(torchere_client_create(&choice, &other), TORCHERE_NOT_FOUND);
  choice.plugin = plugin.c_str();
  choice.cache_directory = "/somewhere";
  expectError(torchere_client_create(&choice, &other), TORCHERE_INVALID_ARGUMENT,
              "[cache] a folder or limit without TORCHERE_CACHE_ON");
  choice.cache = TORCHERE_CACHE_ON;
  choice.cache_directory = "relative";
  expectError(torchere_client_create(&choice, &other), TORCHERE_INVALID_ARGUMENT,
              "[cache_directory] not an absolute path: got relative");
  choice.cache = 9;
  expectError(torchere_client_create(&choice, &other), TORCHERE_INVALID_ARGUMENT,
              "[cache] no such choice: got 9, expected TORCHERE_CACHE_ENVIRONMENT, OFF or ON");
}

TEST_F(HandlesTest, ClientsTellOfPluginAndDevices) {
  auto info = sized<torchere_client_info>();
  ASSERT_EQ(torchere_client_get_info(client, &info), TORCHERE_OK);
  EXPECT_STREQ(info.platform, "interpreter");
  ASSERT_EQ(info.device_count, 1u);
  auto device = sized<torchere_device_info>();
  ASSERT_EQ(torchere_client_get_device(client, 0, &device), TORCHERE_OK);
  EXPECT_EQ(device.id, 0);
  expectError(torchere_client_get_device(client, 1, &device), TORCHERE_OUT_OF_RANGE,
              "[index] no such index: got 1, expected less than 1");
  auto option = sized<torchere_option>();
  option.name = "device_count";
  option.kind = TORCHERE_KIND_INT;
  option.integer = 2;
  auto options = sized<torchere_client_options>();
  options.plugin = plugin.c_str();
  options.options = &option;
  options.option_count = 1;
  options.cache = TORCHERE_CACHE_OFF;
  torchere_client two = nullptr;
  ASSERT_EQ(torchere_client_create(&options, &two), TORCHERE_OK) << torchere_error_message();
  auto load = sized<torchere_load_options>();
  load.client = two;
  load.has_device = load.device = 1;
  torchere_program program = nullptr;
  ASSERT_EQ(torchere_program_load(savedPrograms().path("identity").c_str(), &load, &program), TORCHERE_OK);
  ASSERT_EQ(torchere_program_get_device(program, &device), TORCHERE_OK);
  EXPECT_EQ(device.id, 1);
  torchere_client same = nullptr;
  ASSERT_EQ(torchere_program_get_client(program, &same), TORCHERE_OK);
  ASSERT_EQ(torchere_client_get_info(same, &info), TORCHERE_OK);
  EXPECT_EQ(info.device_count, 2u);
  EXPECT_EQ(torchere_client_destroy(same), TORCHERE_OK);
  EXPECT_EQ(torchere_client_destroy(two), TORCHERE_OK);
  EXPECT_EQ(torchere_program_destroy(program), TORCHERE_OK);
}

TEST_F(HandlesTest, TheHeaderIsC) {
  EXPECT_TRUE(usesTheHeaderFromC());
}

TEST_F(HandlesTest, NamesOfCodesAndDTypes) {
  EXPECT_STREQ(torchere_status_name(TORCHERE_OK), "OK");
  EXPECT_STREQ(torchere_status_name(TORCHERE_DATA_LOSS), "DATA_LOSS");
  EXPECT_STREQ(torchere_status_name(-5), "UNKNOWN");
  EXPECT_STREQ(torchere_dtype_name(TORCHERE_BFLOAT16), "bfloat16");
  EXPECT_STREQ(torchere_dtype_name(TORCHERE_FLOAT8_E8M0FNU), "float8_e8m0fnu");
  EXPECT_STREQ(torchere_dtype_name(0), "");
  EXPECT_EQ(torchere_dtype_size(TORCHERE_COMPLEX128), 16u);
  EXPECT_EQ(torchere_dtype_size(1000), 0u);
  EXPECT_GT(std::string(torchere_version()).size(), 4u);
}

TEST_F(HandlesTest, MessagesAreTheThreadsOwn) {
  EXPECT_EQ(torchere_program_destroy(nullptr), TORCHERE_INVALID_ARGUMENT);
  std::thread([] {
    EXPECT_STREQ(torchere_error_message(), "");
    EXPECT_EQ(torchere_result_destroy(nullptr), TORCHERE_INVALID_ARGUMENT);
    EXPECT_STREQ(torchere_error_message(), "[result] null handle: expected a live one");
  }).join();
  EXPECT_STREQ(torchere_error_message(), "[program] null handle: expected a live one");
}

} // namespace
} // namespace torchere::capi
