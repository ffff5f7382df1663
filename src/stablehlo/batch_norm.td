// Batch normalization and its gradient.
#ifndef TORCHERE_STABLEHLO_BATCH_NORM
#define TORCHERE_STABLEHLO_BATCH_NORM

include "op_base.td"

def StableHLO_BatchNormGradOp : StableHLO_Op<"batch_norm_grad", [Pure, StableHLO_InfersTypes]> {
  let summary = "gradients of batch_norm_training's operand, scale and offset";
  let arguments = (ins StableHLO_FloatTensor:$operand, StableHLO_FloatVector:$scale, StableHLO_FloatVector:$mean,
    StableHLO_FloatVector:$variance, StableHLO_FloatTensor:$grad_output, F32Attr:$epsilon,
    I64Attr:$feature_index);
  let results = (outs StableHLO_FloatTensor:$grad_operand, StableHLO_FloatVector:$grad_scale,
    StableHLO_FloatVector:$grad_offset);
}

def StableHLO_BatchNormInferenceOp : StableHLO_Op<"batch_norm_inference", [Pure, StableHLO_InfersTypes]> {
  let summary = "normalization by a given mean and variance of each feature";
  let arguments = (ins StableHLO_FloatTensor:$operand, StableHLO_FloatVector:$scale,
    StableHLO_FloatVector:$offset, StableHLO_FloatVector:$mean, StableHLO_FloatVector:$variance,
    F32Attr:$epsilon, I64Attr:$feature_index);
  let results = (outs StableHLO_FloatTensor:$result);
}

def StableHLO_BatchNormTrainingOp : StableHLO_Op<"batch_norm_training", [Pure, StableHLO_InfersTypes]> {
  let summary = "normalization by the batch's own mean and variance of each feature";
  let arguments = (ins StableHLO_FloatTensor:$operand, StableHLO_FloatVector:$scale,
    StableHLO_FloatVector:$offset, F32Attr:$epsilon, I64Attr:$feature_index);
  let results = (outs StableHLO_FloatTensor:$output, StableHLO_FloatVector:$batch_mean,
    StableHLO_FloatVector:$batch_var);
}

#endif
