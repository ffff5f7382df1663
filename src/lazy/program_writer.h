// From a graph of calls to a program::Program: each call adds one node.
#pragma once

#include "lazy/graph.h"
#include "program/program.h"

#include <vector>

namespace torchere::lazy {

/// An input of a program, and the leaves of the graph that it is: none if the graph does not read it.
struct ProgramInput {
  program::InputSpec spec;
  std::vector<uint32_t> leaves = {};
  const TensorType *type = nullptr; ///< of one without leaves; null for None
};

/// The program's user inputs are the graph's leaves, and its outputs the graph's, in order.
Result<program::Program> writeProgram(const Graph &graph);
/// With inputs and outputs as they are given: every leaf has to be among the inputs. Of the outputs, those
/// that are not given take the graph's in order.
Result<program::Program> writeProgram(const Graph &graph, const std::vector<ProgramInput> &inputs,
                                      const std::vector<program::OutputSpec> &outputs);

/// The dtype that programs have for torch's. Unimplemented for quantized and other types without one.
Result<DType> programDType(at::ScalarType dtype);
at::ScalarType torchDType(DType dtype);

} // namespace torchere::lazy
