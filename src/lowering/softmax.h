// Softmax and its logarithm, as every op that has one inside builds them.
#pragma once

#include "lowering/context.h"

namespace torchere::lowering {

/// What a softmax gives for a row that is -inf throughout: 0 / 0, or zeros, as torch's attention does.
enum class MaskedRows { Nan, Zeros };

/// exp(x - max) / sum(exp(x - max)) along an axis of floats.
mlir::Value softmaxAlong(Context &cx, mlir::Value value, int64_t axis, MaskedRows masked = MaskedRows::Nan);
/// (x - max) - log(sum(exp(x - max))) along an axis of floats.
mlir::Value logSoftmaxAlong(Context &cx, mlir::Value value, int64_t axis);

} // namespace torchere::lowering
