// Contractions, factorizations and Fourier transforms.
#ifndef TORCHERE_STABLEHLO_LINEAR_ALGEBRA
#define TORCHERE_STABLEHLO_LINEAR_ALGEBRA

include "op_base.td"

def StableHLO_DotGeneralOp : StableHLO_VerifiedOp<"dot_general", [Pure]> {
  let summary = "products summed over contracting dimensions, for each batch";
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_PerAxisTensor:$rhs,
    StableHLO_DotDimensionNumbersAttr:$dot_dimension_numbers, StableHLO_PrecisionConfigAttr:$precision_config,
    OptionalAttr<StableHLO_DotAlgorithmAttr>:$algorithm);
  let results = (outs StableHLO_PerAxisTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` custom<DotDimensionNumbers>($dot_dimension_numbers)
    `` custom<PrecisionConfigAndAlgorithm>($precision_config, $algorithm) attr-dict `:`
    functional-type(operands, results)
  }];
}

def StableHLO_ConvolutionOp : StableHLO_VerifiedOp<"convolution", [Pure]> {
  let summary = "dot products of a window that slides over lhs with rhs";
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_PerAxisTensor:$rhs,
    OptionalAttr<DenseI64ArrayAttr>:$window_strides, OptionalAttr<I64ElementsAttr>:$padding,
    OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation, OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation,
    OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
    StableHLO_ConvDimensionNumbersAttr:$dimension_numbers,
    ConfinedAttr<I64Attr, [IntPositive]>:$feature_group_count,
    ConfinedAttr<I64Attr, [IntPositive]>:$batch_group_count,
    StableHLO_PrecisionConfigAttr:$precision_config);
  let results = (outs StableHLO_PerAxisTensor:$result);
  let assemblyFormat = [{
    `(` operands `)` `dim_numbers` `=` custom<ConvolutionDimensions>($dimension_numbers) `,`
    `window` `=` `{` custom<WindowAttributes>($window_strides, $padding, $lhs_dilation, $rhs_dilation,
                                             $window_reversal) `}`
    attr-dict `:` functional-type(operands, results)
  }];
}

// Not in the specification, like the two einsums: dot_general does what they do.
def StableHLO_DotOp : StableHLO_VerifiedOp<"dot", [Pure]> {
  let summary = "product of matrices and vectors";
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs,
    StableHLO_PrecisionConfigAttr:$precision_config);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `` custom<PrecisionConfig>($precision_config) attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_EinsumOp : StableHLO_Op<"einsum", [Pure]> {
  let summary = "sums of products, by Einstein's notation";
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs, StrAttr:$einsum_config);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` `config` `=` $einsum_config attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_UnaryEinsumOp : StableHLO_Op<"unary_einsum", [Pure]> {
  let summary = "sums of elements, by Einstein's notation";
  let arguments = (ins StableHLO_Tensor:$operand, StrAttr:$einsum_config);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `config` `=` $einsum_config attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_CholeskyOp : StableHLO_VerifiedOp<"cholesky", [Pure, StableHLO_CompatibleOperandsAndResult]> {
  let summary = "triangular factor of Hermitian positive-definite matrices";
  let arguments = (ins StableHLO_FloatOrComplexTensor:$a, DefaultValuedOptionalAttr<BoolAttr, "false">:$lower);
  let results = (outs StableHLO_FloatOrComplexTensor:$result);
  let assemblyFormat = [{
    $a (`,` `lower` `=` $lower^)? attr-dict `:` custom<SameOperandsAndResultType>(type($a), type($result))
  }];
}

def StableHLO_TriangularSolveOp : StableHLO_Op<"triangular_solve", [Pure, StableHLO_InfersTypes]> {
  let summary = "solution of linear equations whose matrix is triangular";
  let arguments = (ins StableHLO_FloatOrComplexTensor:$a, StableHLO_FloatOrComplexTensor:$b,
    BoolAttr:$left_side, BoolAttr:$lower, BoolAttr:$unit_diagonal, StableHLO_TransposeAttr:$transpose_a);
  let results = (outs StableHLO_FloatOrComplexTensor:$result);
}

def StableHLO_FftOp : StableHLO_Op<"fft", [Pure, StableHLO_InfersTypes]> {
  let summary = "Fourier transform over the last dimensions";
  let arguments = (ins StableHLO_FloatOrComplexTensor:$operand, StableHLO_FftTypeAttr:$fft_type,
    DenseI64ArrayAttr:$fft_length);
  let results = (outs StableHLO_FloatOrComplexTensor:$result);
  let assemblyFormat = [{
    $operand `,` `type` `=` `` $fft_type `,` `length` `=` $fft_length attr-dict `:`
    functional-type(operands, results)
  }];
}

#endif
