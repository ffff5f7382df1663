// Descriptions of a function's inputs and outputs, as torchere_value_info shows them.
#pragma once

#include "artifact/bundle.h"
#include "capi/dtypes.h"
#include "program/entry_point.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace torchere::capi {

/// An input or output of a function, or a weight. What fill() hands out belongs to the description.
class ValueDescription {
public:
  ValueDescription(std::string name, const program::TensorSignature &type,
                   const program::EntryPoint &entryPoint);
  ValueDescription(std::string name, const program::Weight &weight);
  /// A value that is known.
  ValueDescription(std::string name, const program::Constant &value);
  ValueDescription(ValueDescription &&) = default;

  /// An input that is an int, with its range.
  void setInt(program::SymInt value, const program::EntryPoint &entryPoint);
  /// An output that is a number, of the kind that its dtype says.
  void setNumber();
  void fill(torchere_value_info &info) const;

  const std::string &name() const { return valueName; }
  torchere_kind kind() const { return valueKind; }
  bool isConstant() const { return constant; }
  torchere_dtype dtype() const { return elementType; }

private:
  std::string valueName;
  torchere_kind valueKind = TORCHERE_KIND_TENSOR;
  bool constant = false;
  torchere_dtype elementType = 0;
  std::vector<int64_t> dims, minimums, maximums;
  std::vector<std::string> names;
  std::vector<const char *> namePointers;
  int64_t integer = 0;
  double number = 0;
  std::string text;
};

/// A function's inputs and outputs in the user's order. It refers to the entry point.
class FunctionDescription {
public:
  static Result<FunctionDescription> create(const program::EntryPoint &entryPoint);
  FunctionDescription(FunctionDescription &&) = default;

  const program::EntryPoint &entryPoint() const { return *point; }
  const std::vector<ValueDescription> &inputs() const { return inputList; }
  const std::vector<ValueDescription> &outputs() const { return outputList; }
  /// The inputs that get new values, in the order of the function's results.
  const std::vector<size_t> &mutatedInputs() const { return mutated; }
  /// What a call gives at this place: an output, or the new value of an input.
  const ValueDescription &resultAt(size_t index) const;
  size_t resultCount() const { return outputList.size() + mutated.size(); }

  Result<size_t> findInput(std::string_view name) const;
  Result<size_t> findOutput(std::string_view name) const;
  /// Among the results.
  Result<size_t> findResult(std::string_view name) const;

private:
  explicit FunctionDescription(const program::EntryPoint &entryPoint) : point(&entryPoint) {}
  const program::EntryPoint *point;
  std::vector<ValueDescription> inputList, outputList;
  std::vector<size_t> mutated;
};

/// Names of the user's outputs, made of the keys and indices that lead to each: "logits",
/// "hidden_states_0"; "output" where the first step is no name.
std::vector<std::string> outputNames(const program::EntryPoint &entryPoint);

} // namespace torchere::capi
