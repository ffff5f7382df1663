// Calls through the C ABI: what they give, where it goes, and what they refuse.
#include "capi_fixture.h"

#include <atomic>
#include <cstring>
#include <future>

namespace torchere::capi {
namespace {

using CallTest = CapiTest;

TEST_F(CallTest, DescribesFunctionsInputsAndOutputs) {
  torchere_program program = load("dynamic");
  size_t count = 0, index = 9;
  ASSERT_EQ(torchere_program_function_count(program, &count), TORCHERE_OK);
  EXPECT_EQ(count, 1u);
  auto function = sized<torchere_function_info>();
  ASSERT_EQ(torchere_program_get_function(program, 0, &function), TORCHERE_OK);
  EXPECT_STREQ(function.name, "forward");
  EXPECT_EQ(function.input_count, 3u);
  EXPECT_EQ(function.output_count, 3u);
  EXPECT_EQ(function.mutated_count, 0u);

  auto value = sized<torchere_value_info>();
  ASSERT_EQ(torchere_program_find_input(program, 0, "x", &index), TORCHERE_OK);
  ASSERT_EQ(torchere_program_get_input(program, 0, index, &value), TORCHERE_OK);
  EXPECT_STREQ(value.name, "x");
  EXPECT_EQ(value.kind, TORCHERE_KIND_TENSOR);
  EXPECT_EQ(value.dtype, TORCHERE_FLOAT32);
  ASSERT_EQ(value.rank, 2u);
  EXPECT_EQ(value.dims[0], TORCHERE_DYNAMIC);
  EXPECT_STREQ(value.dim_names[0], "batch");
  EXPECT_EQ(value.dim_minimums[0], 1);
  EXPECT_EQ(value.dim_maximums[0], 8);
  EXPECT_EQ(value.dims[1], 2);
  EXPECT_EQ(value.dim_names[1], nullptr);
  EXPECT_EQ(value.dim_maximums[1], 2);

  ASSERT_EQ(torchere_program_get_input(program, 0, 1, &value), TORCHERE_OK);
  EXPECT_STREQ(value.name, "n");
  EXPECT_EQ(value.kind, TORCHERE_KIND_INT);
  EXPECT_FALSE(value.is_constant);
  ASSERT_EQ(torchere_program_get_input(program, 0, 2, &value), TORCHERE_OK);
  EXPECT_EQ(value.kind, TORCHERE_KIND_STRING);
  EXPECT_TRUE(value.is_constant);
  EXPECT_STREQ(value.string, "mean");

  ASSERT_EQ(torchere_program_find_output(program, 0, "doubled", &index), TORCHERE_OK);
  EXPECT_EQ(index, 1u);
  ASSERT_EQ(torchere_program_get_output(program, 0, index, &value), TORCHERE_OK);
  EXPECT_STREQ(value.dim_names[0], "2*batch");
  expectError(torchere_program_find_output(program, 0, "z", &index), TORCHERE_NOT_FOUND,
              "[z] no such output: expected one of y, doubled, mode");
  expectError(torchere_program_get_input(program, 0, 3, &value), TORCHERE_OUT_OF_RANGE,
              "[index] no such index: got 3, expected less than 3");
  expectError(torchere_program_find_function(program, "encode", &index), TORCHERE_NOT_FOUND,
              "[encode] no such function in the program: expected one of forward");
  EXPECT_EQ(torchere_program_destroy(program), TORCHERE_OK);
}

TEST_F(CallTest, AFailedCheckFailsTheCall) {
  torchere_program program = load("checked");
  auto function = sized<torchere_function_info>();
  ASSERT_EQ(torchere_program_get_function(program, 0, &function), TORCHERE_OK);
  EXPECT_EQ(function.output_count, 1u); // the status is none of the user's
  torchere_result result = call(program, 0, {input({0, 2}, {2})});
  EXPECT_EQ(floats(result), (std::vector<float>{0, 2}));
  EXPECT_EQ(torchere_result_destroy(result), TORCHERE_OK);
  torchere_input bad = input({1, 2}, {2});
  torchere_result none = nullptr;
  expectError(torchere_call(program, 0, &bad, 1, &none), TORCHERE_ABORTED,
              "[aten.linalg_inv.default] singular; at model.py:3");
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(torchere_program_destroy(program), TORCHERE_OK);
}

TEST_F(CallTest, TakesInputsByPlaceAndByName) {
  torchere_program program = load("dynamic");
  torchere_result first = call(program, 0, {input({1, 2}, {1, 2}), input(7)});
  EXPECT_EQ(floats(first), (std::vector<float>{3, 10}));
  torchere_input mode = sized<torchere_input>();
  mode.name = "mode";
  mode.kind = TORCHERE_KIND_STRING;
  mode.string = "mean";
  torchere_result second = call(program, 0, {mode, input(7, "n"), input({1, 2, 3, 4}, {2, 2}, "x")});
  size_t index = 0;
  ASSERT_EQ(torchere_result_find(second, "doubled", &index), TORCHERE_OK);
  EXPECT_EQ(floats(second, index), (std::vector<float>{3, 10, 9, 20, 1, 2, 3, 4}));
  auto info = sized<torchere_value_info>();
  ASSERT_EQ(torchere_result_get(second, index, &info), TORCHERE_OK);
  EXPECT_STREQ(info.name, "doubled");
  ASSERT_EQ(info.rank, 2u);
  EXPECT_EQ(info.dims[0], 4);
  EXPECT_EQ(info.dim_names, nullptr);
  ASSERT_EQ(torchere_result_get(second, 2, &info), TORCHERE_OK);
  EXPECT_STREQ(info.string, "mean");
  EXPECT_EQ(torchere_program_destroy(program), TORCHERE_OK);
  EXPECT_EQ(floats(first), (std::vector<float>{3, 10})); // results outlive programs
  EXPECT_EQ(torchere_result_destroy(first), TORCHERE_OK);
  EXPECT_EQ(torchere_result_destroy(second), TORCHERE_OK);
}

TEST_F(CallTest, RefusesWrongInputs) {
  torchere_program program = load("dynamic");
  torchere_result result = nullptr;
  auto fails = [&](std::vector<torchere_input> inputs, const std::string &message) {
    expectError(torchere_call(program, 0, inputs.data(), inputs.size(), &result), TORCHERE_INVALID_ARGUMENT,
                message);
    EXPECT_EQ(result, nullptr);
  };
  torchere_input x = input({1, 2}, {1, 2});
  fails({x}, "[n] the input is missing: expected an int");
  fails({}, "[x] the input is missing: expected a tensor");
  fails({x, input(1), {}, x},
        "[inputs] wrong struct_size: got 0, expected " + std::to_string(sizeof(torchere_input)));
  torchere_input unset = sized<torchere_input>();
  fails({x, input(1), unset, x}, "[forward] too many inputs: got 4, expected 3");
  fails({x, input(1), input(2, "n")}, "[n] the input is given twice");
  torchere_input wrong = x;
  wrong.tensor.byte_size = 7;
  fails({wrong, input(1)}, "[x] memory too short: got 7 bytes, expected at least 8");
  wrong = x;
  wrong.tensor.data = nullptr;
  fails({wrong, input(1)}, "[x] null pointer: expected memory of 8 bytes");
  wrong = x;
  wrong.tensor.dtype = 99;
  fails({wrong, input(1)}, "[x] no such dtype: got 99");
  wrong = x;
  wrong.tensor.dims = nullptr;
  fails({wrong, input(1)}, "[x] null pointer: expected 2 dimensions");
  wrong = x;
  wrong.tensor.rank = static_cast<size_t>(-1);
  fails({wrong, input(1)}, "[x] too many dimensions: got 18446744073709551615, expected at most 1024");
  const int64_t huge[] = {int64_t{1} << 40, int64_t{1} << 40}, negative[] = {-1, 2}, strides[] = {3, 2};
  wrong = x;
  wrong.tensor.dims = huge;
  fails({wrong, input(1)}, "[x] too large: its size in bytes does not fit 63 bits");
  wrong.tensor.dims = negative;
  fails({wrong, input(1)}, "[x] negative size of dimension 0: got -1");
  wrong = x;
  wrong.tensor.strides = strides; // reaches the third element
  fails({wrong, input(1)}, "[x] memory too short: got 8 bytes, expected at least 12");
  wrong = x;
  wrong.kind = 77;
  fails({wrong, input(1)}, "[x] no such kind of input: got 77");
  wrong = x;
  wrong.tensor.struct_size = 1;
  fails({wrong, input(1)}, "[x] wrong struct_size of its torchere_tensor: got 1, expected " +
                               std::to_string(sizeof(torchere_tensor)));
  fails({input({1, 2, 3}, {1, 3}), input(1)}, "[x] wrong size of dimension 1: got 3, expected 2");
  fails({input(std::vector<float>(18), {9, 2}), input(1)},
        "[x] size of dimension 0 (batch) out of range: got 9, expected 1 to 8");
  expectError(torchere_call(program, 5, &x, 1, &result), TORCHERE_OUT_OF_RANGE,
              "[function] no such index: got 5, expected less than 1");
  expectError(torchere_call(program, 0, nullptr, 1, &result), TORCHERE_INVALID_ARGUMENT,
              "[inputs] null pointer: expected an address");
  expectError(torchere_call(program, 0, &x, static_cast<size_t>(-1), &result), TORCHERE_INVALID_ARGUMENT,
              "[inputs] too many elements: got 18446744073709551615, expected at most 1048576");
  expectError(torchere_call(program, 0, &x, 1, nullptr), TORCHERE_INVALID_ARGUMENT,
              "[result] null pointer: expected an address");
  EXPECT_EQ(torchere_program_destroy(program), TORCHERE_OK);
}

TEST_F(CallTest, ReadsStridedAndEmptyTensors) {
  torchere_program program = load("dynamic");
  const int64_t strides[] = {1, 2};
  torchere_input x = input({1, 3, 2, 4}, {2, 2});
  x.tensor.strides = strides; // [[1, 2], [3, 4]]
  torchere_result result = call(program, 0, {x, input(1)});
  EXPECT_EQ(floats(result), (std::vector<float>{3, 10, 9, 20}));
  EXPECT_EQ(torchere_result_destroy(result), TORCHERE_OK);
  torchere_input empty = input({}, {0, 2});
  empty.tensor.data = nullptr;
  EXPECT_EQ(torchere_call(program, 0, &empty, 1, &result), TORCHERE_INVALID_ARGUMENT); // n is missing
  EXPECT_EQ(torchere_program_destroy(program), TORCHERE_OK);
}

TEST_F(CallTest, WritesIntoTheCallersMemory) {
  torchere_program program = load("dynamic");
  torchere_input inputs[] = {input({1, 2, 3, 4}, {2, 2}), input(1)};
  std::vector<float> y(4), doubled(8);
  torchere_destination outputs[] = {sized<torchere_destination>(), sized<torchere_destination>()};
  outputs[0].data = y.data();
  outputs[0].byte_size = 16;
  outputs[1].name = "doubled";
  outputs[1].data = doubled.data();
  outputs[1].byte_size = 31;
  auto function = sized<torchere_function_info>();
  expectError(torchere_call_into(program, 0, inputs, 2, outputs, 2), TORCHERE_OUT_OF_RANGE,
              "[doubled] memory too short: got 31 bytes, expected at least 32");
  EXPECT_EQ(outputs[1].needed, 32u);
  ASSERT_EQ(torchere_program_get_function(program, 0, &function), TORCHERE_OK);
  EXPECT_EQ(function.calls, 0); // found before the call
  EXPECT_EQ(y, std::vector<float>(4));
  outputs[1].byte_size = 32;
  ASSERT_EQ(torchere_call_into(program, 0, inputs, 2, outputs, 2), TORCHERE_OK) << torchere_error_message();
  EXPECT_EQ(y, (std::vector<float>{3, 10, 9, 20}));
  EXPECT_EQ(doubled, (std::vector<float>{3, 10, 9, 20, 1, 2, 3, 4}));
  outputs[1].name = "y";
  expectError(torchere_call_into(program, 0, inputs, 2, outputs, 2), TORCHERE_INVALID_ARGUMENT,
              "[y] the output is given twice");
  outputs[1].name = "mode";
  expectError(torchere_call_into(program, 0, inputs, 2, outputs, 2), TORCHERE_FAILED_PRECONDITION,
              "[mode] a constant: it has no memory");
  outputs[0].data = nullptr;
  expectError(torchere_call_into(program, 0, inputs, 2, outputs, 1), TORCHERE_INVALID_ARGUMENT,
              "[y] null pointer: expected memory of 16 bytes");
  EXPECT_EQ(torchere_program_destroy(program), TORCHERE_OK);
}

TEST_F(CallTest, CopiesOutputsWithChecks) {
  torchere_program program = load("identity");
  torchere_result result = call(program, 0, {input({4, 5}, {2})});
  memory.back() = {0, 0}; // the caller's again
  float copy[2] = {};
  expectError(torchere_result_read(result, 0, copy, 7), TORCHERE_OUT_OF_RANGE,
              "[output] memory too short: got 7 bytes, expected at least 8");
  expectError(torchere_result_read(result, 0, nullptr, 8), TORCHERE_INVALID_ARGUMENT,
              "[output] null pointer: expected memory of 8 bytes");
  expectError(torchere_result_read(result, 1, copy, 8), TORCHERE_OUT_OF_RANGE,
              "[index] no such index: got 1, expected less than 1");
  ASSERT_EQ(torchere_result_read(result, 0, copy, 8), TORCHERE_OK);
  EXPECT_EQ(copy[1], 5);
  torchere_array array = nullptr;
  expectError(torchere_result_array(result, 0, &array), TORCHERE_FAILED_PRECONDITION,
              "[output] not on the device: got an output of a call that waits, expected an output of "
              "torchere_call_async");
  EXPECT_EQ(torchere_result_destroy(result), TORCHERE_OK);
  EXPECT_EQ(torchere_program_destroy(program), TORCHERE_OK);
}

TEST_F(CallTest, GivesNewValuesOfMutatedInputs) {
  torchere_program program = load("mutating");
  torchere_result result = call(program, 0, {input({4, 5}, {2})});
  size_t count = 0, index = 0;
  ASSERT_EQ(torchere_result_count(result, &count), TORCHERE_OK);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(floats(result, 0), (std::vector<float>{5, 6}));
  ASSERT_EQ(torchere_result_find(result, "x", &index), TORCHERE_OK);
  EXPECT_EQ(index, 1u);
  EXPECT_EQ(floats(result, 1), (std::vector<float>{8, 10}));
  EXPECT_EQ(memory.back(), (std::vector<float>{4, 5})); // the input's own memory is not written
  EXPECT_EQ(torchere_result_destroy(result), TORCHERE_OK);
  EXPECT_EQ(torchere_program_destroy(program), TORCHERE_OK);
}

TEST_F(CallTest, ChainsAsynchronousCalls) {
  torchere_program program = load("mutating");
  torchere_tensor host = tensor({1, 2}, {2});
  torchere_array array = nullptr;
  ASSERT_EQ(torchere_array_create(program, &host, &array), TORCHERE_OK) << torchere_error_message();
  memory.back() = {0, 0}; // it is a copy
  for (int round = 0; round < 3; ++round) {
    torchere_input x = input(array);
    torchere_result result = nullptr;
    ASSERT_EQ(torchere_call_async(program, 0, &x, 1, &result), TORCHERE_OK) << torchere_error_message();
    EXPECT_EQ(torchere_array_destroy(array), TORCHERE_OK); // the plugin keeps what it needs
    ASSERT_EQ(torchere_result_array(result, 0, &array), TORCHERE_OK);
    EXPECT_EQ(torchere_result_destroy(result), TORCHERE_OK);
  }
  auto info = sized<torchere_value_info>();
  ASSERT_EQ(torchere_array_get(array, &info), TORCHERE_OK);
  EXPECT_EQ(info.kind, TORCHERE_KIND_ARRAY);
  ASSERT_EQ(info.rank, 1u);
  EXPECT_EQ(info.dims[0], 2);
  EXPECT_EQ(torchere_program_destroy(program), TORCHERE_OK);
  ASSERT_EQ(torchere_array_wait(array), TORCHERE_OK);
  int32_t ready = 0;
  ASSERT_EQ(torchere_array_is_ready(array, &ready), TORCHERE_OK);
  EXPECT_EQ(ready, 1);
  float values[2] = {};
  ASSERT_EQ(torchere_array_read(array, values, sizeof values), TORCHERE_OK);
  EXPECT_EQ(values[0], 4);
  EXPECT_EQ(values[1], 5);
  const void *data = nullptr;
  size_t size = 0;
  ASSERT_EQ(torchere_array_data(array, &data, &size), TORCHERE_OK);
  EXPECT_EQ(size, 8u);
  EXPECT_EQ(std::memcmp(data, values, size), 0);
  EXPECT_EQ(torchere_array_destroy(array), TORCHERE_OK);
}

struct Told {
  std::promise<torchere_status> status;
  std::atomic<int> count = 0;
};

void tell(void *told, torchere_status status, const char *) {
  static_cast<Told *>(told)->count++;
  static_cast<Told *>(told)->status.set_value(status);
}

TEST_F(CallTest, CallsBackWhenOutputsAreComputed) {
  torchere_program program = load("mutating");
  torchere_input x = input({1, 2}, {2});
  torchere_result result = nullptr;
  ASSERT_EQ(torchere_call_async(program, 0, &x, 1, &result), TORCHERE_OK) << torchere_error_message();
  Told first, second;
  ASSERT_EQ(torchere_result_on_ready(result, tell, &first), TORCHERE_OK);
  EXPECT_EQ(first.status.get_future().get(), TORCHERE_OK);
  ASSERT_EQ(torchere_result_wait(result), TORCHERE_OK);
  int32_t ready = 0;
  ASSERT_EQ(torchere_result_is_ready(result, &ready), TORCHERE_OK);
  EXPECT_EQ(ready, 1);
  ASSERT_EQ(torchere_result_on_ready(result, tell, &second), TORCHERE_OK); // at once
  EXPECT_EQ(second.count, 1);
  EXPECT_EQ(first.count, 1);
  expectError(torchere_result_on_ready(result, nullptr, nullptr), TORCHERE_INVALID_ARGUMENT,
              "[callback] null pointer: expected an address");
  EXPECT_EQ(torchere_result_destroy(result), TORCHERE_OK);
  EXPECT_EQ(torchere_program_destroy(program), TORCHERE_OK);
}

} // namespace
} // namespace torchere::capi
