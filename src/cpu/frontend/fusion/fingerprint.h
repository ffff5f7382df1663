// Fingerprints of elementwise subgraphs: long polynomials are recognized by one number.
#pragma once

#include "cpu/frontend/fusion/pattern.h"

namespace torchere::cpu {

/// A hash of how `root` is computed from `leaf` and constants by elementwise ops, whose operands may change
/// places where that means nothing. None if it depends on anything else, or on too many ops. Adds the ops to
/// `subgraph`.
std::optional<uint64_t> fingerprintOf(mlir::Value root, mlir::Value leaf, Subgraph &subgraph);

enum class ErrorFunction { Itself, Complement, Inverse };
struct ErrorFunctionMatch {
  ErrorFunction kind;
  mlir::Value argument;
};
/// An error function in f32 or f64 as CHLO is expanded by us, or in f32 by StableHLO's own pass, which JAX
/// uses.
std::optional<ErrorFunctionMatch> matchErrorFunction(mlir::Value value, Subgraph &subgraph);

} // namespace torchere::cpu
