// Softmax and its logarithm, for all ops that contain one.
#pragma once

#include "lowering/context.h"

namespace torchere::lowering {

/// The softmax of a row that is all -inf: 0 / 0, or zeros, as in torch's attention.
enum class MaskedRows { Nan, Zeros };

/// exp(x - max) / sum(exp(x - max)) along an axis of floats.
mlir::Value softmaxAlong(Context &cx, mlir::Value value, int64_t axis, MaskedRows masked = MaskedRows::Nan);
/// (x - max) - log(sum(exp(x - max))) along an axis of floats.
mlir::Value logSoftmaxAlong(Context &cx, mlir::Value value, int64_t axis);

} // namespace torchere::lowering
