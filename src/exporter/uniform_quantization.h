// Quantization with StableHLO's quantized types: quantized_decomposed's ops as uniform_quantize and
// uniform_dequantize.
#pragma once

#include "lowering/context.h"
#include "program/program.h"

#include <vector>

namespace torchere::exporter {

/// The result of a call of quantized_decomposed; null for one that quantized types do not express, and for
/// other ops: scales that are not known, zero or infinite, and dtypes that are no integers of up to 32 bits.
mlir::Value uniformQuantization(lowering::Context &cx, const program::Node &node,
                                const std::vector<lowering::GivenArgument> &arguments,
                                const lowering::TensorType &result);

/// Whether a weight is a scale or a zero point of some call, and has to be known for its type.
bool isQuantizationParameter(const program::Graph &graph, program::NodeId node);

} // namespace torchere::exporter
