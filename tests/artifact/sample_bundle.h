// A bundle with everything in it: state, symbols, ties, constants, dtypes that numpy cannot name.
#pragma once

#include "artifact/bundle.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace torchere::artifact {

inline std::shared_ptr<const program::Storage> makeStorage(std::vector<unsigned char> bytes) {
  auto owner = std::make_shared<std::vector<unsigned char>>(std::move(bytes));
  auto data = reinterpret_cast<const std::byte *>(owner->data());
  size_t size = owner->size();
  return std::make_shared<const program::Storage>(program::Storage{std::move(owner), data, size});
}

/// `count` float32 numbers: start, start + 1, ...
inline std::shared_ptr<const program::Storage> floatStorage(size_t count, float start = 0) {
  std::vector<unsigned char> bytes(count * 4);
  for (size_t index = 0; index < count; ++index) {
    float value = start + static_cast<float>(index);
    std::memcpy(bytes.data() + 4 * index, &value, 4);
  }
  return makeStorage(std::move(bytes));
}

inline program::Weight makeWeight(std::string name, DType dtype, std::vector<int64_t> shape,
                                  std::vector<int64_t> strides,
                                  std::shared_ptr<const program::Storage> storage, int64_t offset = 0) {
  return {std::move(name), dtype, std::move(shape), std::move(strides), offset, std::move(storage)};
}

/// Five positional arguments and no others, as program::TreeSpec has it and as torch writes it.
inline const char *inputTreeJson =
    R"({"children":[{"children":[{"kind":"leaf"},{"kind":"leaf"},{"kind":"leaf"},{"kind":"leaf"},{"kind":"leaf"}],)"
    R"("kind":"tuple"},{"children":[],"keys":[],"kind":"dict"}],"kind":"tuple"})";
inline std::string inputTreeOfTorch() {
  std::string leaf = R"({"type": null, "context": null, "children_spec": []})";
  std::string leaves = leaf + ", " + leaf + ", " + leaf + ", " + leaf + ", " + leaf;
  return R"([1, {"type": "builtins.tuple", "context": "null", "children_spec": [{"type": "builtins.tuple", )"
         R"("context": "null", "children_spec": [)" +
         leaves + R"(]}, {"type": "builtins.dict", "context": "[]", "children_spec": []}]}])";
}
/// A dict of two leaves.
inline const char *outputTreeJson =
    R"({"children":[{"kind":"leaf"},{"kind":"leaf"}],"keys":["a","b"],"kind":"dict"})";

/// forward(x: f32[s0, 3], flag, n: int) -> (f32[s0, 2], None); running_mean is updated; head is tied to tail.
inline Function sampleFunction() {
  using namespace program;
  EntryPoint entry;
  SymInt batch = *entry.expressions.parse("s0");
  entry.inputs = {
      {InputSource::Parameter, "head.weight", -1, {DType::F32, {2, 3}}, false},
      {InputSource::Parameter, "tail.weight", -1, {DType::F32, {2, 3}}, false},
      {InputSource::Buffer, "running_mean", -1, {DType::BF16, {4}}, false},
      {InputSource::Constant, "c_table", 0, {DType::I64, {2}}, false},
      {InputSource::UserInput, "x", 0, {DType::F32, {batch, 3}}, false},
      {InputSource::UserInput, "n", 2, {DType::I64, {}}, true},
  };
  entry.unusedInputs = {{InputSource::UserInput, "mask", 3, {DType::Bool, {batch}}, false}};
  entry.constantInputs = {{"flag", 1, Constant{true}}, {"none", 4, Constant{}}};
  entry.outputs = {
      {OutputDestination::Buffer, "add_1", "running_mean", -1, {DType::BF16, {4}}, false},
      {OutputDestination::UserOutput,
       "mm",
       "",
       0,
       {DType::F32, {*entry.expressions.parse("2*s0"), 2}},
       false},
  };
  entry.constantOutputs = {{1, Constant{}}};
  entry.userInputCount = 5;
  entry.userOutputCount = 2;
  entry.rangeConstraints = {{batch, {2, std::numeric_limits<int64_t>::max()}}};
  entry.argumentNames = {"x", "flag"};
  entry.inputTree = {inputTreeOfTorch(), inputTreeJson};
  entry.outputTree = {"", outputTreeJson};
  return {std::move(entry), "module {\n}\n"};
}

inline Bundle sampleBundle() {
  Bundle bundle;
  bundle.functions.push_back(sampleFunction());
  auto tied = floatStorage(6);
  auto add = [&](program::Weight weight) { bundle.stateDict.emplace(weight.name, weight); };
  add(makeWeight("head.weight", DType::F32, {2, 3}, {3, 1}, tied));
  add(makeWeight("tail.weight", DType::F32, {2, 3}, {3, 1}, tied));
  add(makeWeight("running_mean", DType::BF16, {4}, {1}, makeStorage({1, 2, 3, 4, 5, 6, 7, 8})));
  add(makeWeight("block/unused", DType::F8E5M2, {3}, {1}, makeStorage({9, 8, 7})));
  bundle.constants.push_back(makeWeight("c_table", DType::I64, {2}, {1},
                                        makeStorage({1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0})));
  return bundle;
}

/// The elements of a weight in C order, as bytes.
inline std::string elementsOf(const program::Weight &weight) {
  std::string result;
  size_t itemSize = byteSize(weight.dtype);
  std::vector<int64_t> index(weight.shape.size(), 0);
  for (int64_t count = weight.elementCount(); count-- > 0;) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < index.size(); ++axis)
      offset += index[axis] * weight.strides[axis];
    result.append(reinterpret_cast<const char *>(weight.data()) + offset * static_cast<int64_t>(itemSize),
                  itemSize);
    for (size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < weight.shape[axis])
        break;
      index[axis] = 0;
    }
  }
  return result;
}

} // namespace torchere::artifact
