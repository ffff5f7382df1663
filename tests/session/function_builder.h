// FunctionBuilder: functions by hand, with the weights that they take.
#pragma once

#include "session/session.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace torchere::session {

/// A storage of floats, aligned as torch's are.
inline std::shared_ptr<program::Storage> makeStorage(std::vector<float> values) {
  size_t size = values.size() * sizeof(float);
  std::shared_ptr<void> memory(std::aligned_alloc(64, (size / 64 + 1) * 64), std::free);
  std::copy(values.begin(), values.end(), static_cast<float *>(memory.get()));
  auto storage = std::make_shared<program::Storage>();
  storage->data = static_cast<const std::byte *>(memory.get());
  storage->byteSize = size;
  storage->owner = std::move(memory);
  return storage;
}

inline program::Weight makeWeight(const std::string &name, std::vector<int64_t> shape,
                                  std::vector<int64_t> strides,
                                  std::shared_ptr<const program::Storage> storage) {
  return {name, DType::F32, std::move(shape), std::move(strides), 0, std::move(storage)};
}

inline float *valuesOf(const program::Weight &weight) {
  return const_cast<float *>(reinterpret_cast<const float *>(weight.data()));
}

inline std::vector<float> read(const runtime::HostArray &array) {
  size_t count = 1;
  for (int64_t size : array.type->shape)
    count *= static_cast<size_t>(size);
  const auto *data = static_cast<const float *>(array.data);
  return {data, data + count};
}

/// Builds entry points by hand.
struct FunctionBuilder {
  explicit FunctionBuilder(const std::string &name) { function.entryPoint.name = name; }

  FunctionBuilder &input(program::InputSource source, const std::string &name,
                         std::initializer_list<const char *> shape) {
    program::EntryInput input;
    input.source = source;
    input.name = name;
    input.type = type(shape);
    if (source == program::InputSource::UserInput)
      input.position = function.entryPoint.userInputCount++;
    else if (source == program::InputSource::Constant)
      input.position = constants++;
    function.entryPoint.inputs.push_back(std::move(input));
    return *this;
  }
  FunctionBuilder &output(program::OutputDestination destination, const std::string &target,
                          std::initializer_list<const char *> shape) {
    program::EntryOutput output;
    output.destination = destination;
    output.target = target;
    output.type = type(shape);
    if (destination == program::OutputDestination::UserOutput)
      output.position = function.entryPoint.userOutputCount++;
    else if (destination == program::OutputDestination::UserInput)
      output.position = 0;
    function.entryPoint.outputs.push_back(std::move(output));
    return *this;
  }
  FunctionBuilder &range(const char *expression, int64_t min, int64_t max) {
    function.entryPoint.rangeConstraints.push_back(
        {*function.entryPoint.expressions.parse(expression), {min, max}});
    return *this;
  }
  artifact::Function build(const std::string &text) {
    function.text = text;
    return std::move(function);
  }

private:
  program::TensorSignature type(std::initializer_list<const char *> shape) {
    program::TensorSignature type;
    for (const char *size : shape)
      type.shape.push_back(*function.entryPoint.expressions.parse(size));
    return type;
  }
  artifact::Function function;
  int64_t constants = 0;
};

} // namespace torchere::session
