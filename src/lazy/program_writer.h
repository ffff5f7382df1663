// From a graph of calls to a program::Program: each call adds one node.
#pragma once

#include "lazy/graph.h"
#include "program/program.h"

namespace torchere::lazy {

/// The program's user inputs are the graph's leaves, and its outputs the wanted results, in order.
Result<program::Program> writeProgram(const Graph &graph);

/// The dtype that programs have for torch's. Unimplemented for quantized and other types without one.
Result<DType> programDType(at::ScalarType dtype);
at::ScalarType torchDType(DType dtype);

} // namespace torchere::lazy
