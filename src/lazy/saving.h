// A traced step as a program with named inputs, weights and state.
#pragma once

#include "lazy/graph.h"
#include "program/program.h"
#include "session/tensor_view.h"

#include <string>
#include <vector>

namespace torchere::lazy {

/// A tensor that the step found when it was called, other than its arguments.
struct SavedWeight {
  std::string name;
  bool isParameter = false; ///< else a buffer
  /// Its value; then those of the tensor that it is a view of, where the view is the whole of it.
  std::vector<session::DeviceTensor> arrays;
  const TensorType *type = nullptr;
};

/// A leaf of the step's arguments: an array, or a constant.
struct SavedArgument {
  std::string name; ///< an identifier; no other argument has it
  session::DeviceTensor array;
  const TensorType *type = nullptr;
  program::Constant constant;
};

/// What the step leaves in a weight or in an argument, by its index.
struct SavedWrite {
  bool isArgument = false;
  size_t index = 0;
};

struct SavedStep {
  std::vector<SavedWeight> weights;
  std::vector<SavedArgument> arguments;
  std::vector<SavedWrite> writes;
  /// NotGiven for a tensor.
  std::vector<program::Argument> results;
  program::TreeSpec inputTree, outputTree;
  std::vector<std::string> argumentNames;
};

/// The outputs of `graph` are the written values, in the order of the writes, then the results that are
/// tensors. Arrays that the step reads and that it does not name become constants.
Result<program::Program> writeStep(const SavedStep &step, const Graph &graph);

} // namespace torchere::lazy
