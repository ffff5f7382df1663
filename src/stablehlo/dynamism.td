// Ops whose result shape is computed by the program.
#ifndef TORCHERE_STABLEHLO_DYNAMISM
#define TORCHERE_STABLEHLO_DYNAMISM

include "op_base.td"

def StableHLO_DynamicBroadcastInDimOp : StableHLO_VerifiedOp<"dynamic_broadcast_in_dim", [Pure]> {
  let summary = "broadcast_in_dim to a computed shape";
  let arguments = (ins StableHLO_PerAxisTensor:$operand, StableHLO_DimensionTensor:$output_dimensions,
    DenseI64ArrayAttr:$broadcast_dimensions, OptionalAttr<DenseI64ArrayAttr>:$known_expanding_dimensions,
    OptionalAttr<DenseI64ArrayAttr>:$known_nonexpanding_dimensions);
  let results = (outs StableHLO_PerAxisTensor:$result);
  let assemblyFormat = [{
    $operand `,` $output_dimensions `,` `dims` `=` $broadcast_dimensions attr-dict `:`
    functional-type(operands, results)
  }];
}

def StableHLO_DynamicConvOp : StableHLO_VerifiedOp<"dynamic_conv", [Pure]> {
  let summary = "convolution with computed padding";
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs, StableHLO_IntMatrix:$padding,
    OptionalAttr<DenseI64ArrayAttr>:$window_strides, OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation,
    OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation, OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
    StableHLO_ConvDimensionNumbersAttr:$dimension_numbers,
    ConfinedAttr<I64Attr, [IntPositive]>:$feature_group_count,
    ConfinedAttr<I64Attr, [IntPositive]>:$batch_group_count,
    StableHLO_PrecisionConfigAttr:$precision_config);
  let results = (outs StableHLO_Tensor:$result);
}

def StableHLO_DynamicGatherOp : StableHLO_Op<"dynamic_gather", [Pure, StableHLO_InfersTypes]> {
  let summary = "gather of slices of computed size";
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_IntTensor:$start_indices,
    StableHLO_IntVector:$slice_sizes, StableHLO_GatherDimensionNumbersAttr:$dimension_numbers,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
  let results = (outs StableHLO_Tensor:$result);
}

def StableHLO_DynamicIotaOp : StableHLO_VerifiedOp<"dynamic_iota", [Pure]> {
  let summary = "iota of a computed shape";
  let arguments = (ins StableHLO_DimensionTensor:$output_shape, I64Attr:$iota_dimension);
  let results = (outs StableHLO_NumberTensor:$result);
  let assemblyFormat = "$output_shape `,` `dim` `=` $iota_dimension attr-dict `:` functional-type(operands, results)";
}

def StableHLO_DynamicPadOp : StableHLO_VerifiedOp<"dynamic_pad", [Pure]> {
  let summary = "pad with computed amounts";
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_ScalarTensor:$padding_value,
    StableHLO_DimensionTensor:$edge_padding_low, StableHLO_DimensionTensor:$edge_padding_high,
    StableHLO_DimensionTensor:$interior_padding);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def StableHLO_DynamicReshapeOp : StableHLO_VerifiedOp<"dynamic_reshape", [Pure]> {
  let summary = "reshape to a computed shape";
  let arguments = (ins StableHLO_PerAxisTensor:$operand, StableHLO_DimensionTensor:$output_shape);
  let results = (outs StableHLO_PerAxisTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

// Not in the specification.
def StableHLO_SetDimensionSizeOp : StableHLO_Op<"set_dimension_size", [Pure, StableHLO_InfersTypes]> {
  let summary = "tensor of which one dimension has a computed size";
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_ScalarInt32Tensor:$size, I64Attr:$dimension);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $size `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_RealDynamicSliceOp : StableHLO_VerifiedOp<"real_dynamic_slice", [Pure]> {
  let summary = "slice by computed indices and strides";
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_DimensionTensor:$start_indices,
    StableHLO_DimensionTensor:$limit_indices, StableHLO_DimensionTensor:$strides);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif
