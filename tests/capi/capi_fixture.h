// What tests of the C ABI share: the saved programs, a client on the interpreter, and structures filled in.
#pragma once

#include "saved_programs.h"

#include <torchere/torchere.h>

#include <deque>
#include <gtest/gtest.h>
#include <initializer_list>
#include <string>
#include <vector>

namespace torchere::capi {

inline SavedPrograms &savedPrograms() {
  static SavedPrograms programs;
  return programs;
}

template <class Structure> Structure sized() {
  Structure structure = {};
  structure.struct_size = sizeof structure;
  return structure;
}

class CapiTest : public testing::Test {
protected:
  void SetUp() override {
    auto options = sized<torchere_client_options>();
    plugin = relayPlugin();
    options.plugin = plugin.c_str();
    options.cache = TORCHERE_CACHE_OFF;
    ASSERT_EQ(torchere_client_create(&options, &client), TORCHERE_OK) << torchere_error_message();
  }
  void TearDown() override { EXPECT_EQ(torchere_client_destroy(client), TORCHERE_OK); }

  torchere_program load(const std::string &name) {
    auto options = sized<torchere_load_options>();
    options.client = client;
    torchere_program program = nullptr;
    torchere_status status = torchere_program_load(savedPrograms().path(name).c_str(), &options, &program);
    EXPECT_EQ(status, TORCHERE_OK) << torchere_error_message();
    return program;
  }
  /// A dense tensor of floats in memory of this test.
  torchere_tensor tensor(std::vector<float> values, std::vector<int64_t> shape) {
    auto result = sized<torchere_tensor>();
    shapes.push_back(std::move(shape));
    memory.push_back(std::move(values));
    result.dtype = TORCHERE_FLOAT32;
    result.data = memory.back().data();
    result.byte_size = memory.back().size() * sizeof(float);
    result.rank = shapes.back().size();
    result.dims = shapes.back().data();
    return result;
  }
  torchere_input input(std::vector<float> values, std::vector<int64_t> shape, const char *name = nullptr) {
    auto result = sized<torchere_input>();
    result.name = name;
    result.kind = TORCHERE_KIND_TENSOR;
    result.tensor = tensor(std::move(values), std::move(shape));
    return result;
  }
  static torchere_input input(torchere_array array) {
    auto result = sized<torchere_input>();
    result.kind = TORCHERE_KIND_ARRAY;
    result.array = array;
    return result;
  }
  static torchere_input input(int64_t integer, const char *name = nullptr) {
    auto result = sized<torchere_input>();
    result.name = name;
    result.kind = TORCHERE_KIND_INT;
    result.integer = integer;
    return result;
  }
  torchere_result call(torchere_program program, size_t function, std::vector<torchere_input> inputs) {
    torchere_result result = nullptr;
    torchere_status status = torchere_call(program, function, inputs.data(), inputs.size(), &result);
    EXPECT_EQ(status, TORCHERE_OK) << torchere_error_message();
    return result;
  }
  static std::vector<float> floats(torchere_result result, size_t index = 0) {
    const void *data = nullptr;
    size_t size = 0;
    EXPECT_EQ(torchere_result_data(result, index, &data, &size), TORCHERE_OK) << torchere_error_message();
    const auto *elements = static_cast<const float *>(data);
    return {elements, elements + size / sizeof(float)};
  }
  static void expectError(torchere_status status, torchere_status code, const std::string &message) {
    EXPECT_EQ(status, code);
    EXPECT_EQ(torchere_error_message(), message);
  }

  std::string plugin;
  torchere_client client = nullptr;
  std::deque<std::vector<float>> memory;
  std::deque<std::vector<int64_t>> shapes;
};

} // namespace torchere::capi
