// Ops of CHLO that are not elementwise: constants, top_k, ragged_dot, scan.
#ifndef TORCHERE_STABLEHLO_CHLO_TENSOR
#define TORCHERE_STABLEHLO_CHLO_TENSOR

include "chlo_op_base.td"
include "mlir/IR/OpAsmInterface.td"

def CHLO_ConstantOp : CHLO_Op<"constant", [Pure, ConstantLike, StableHLO_InfersTypes]> {
  let summary = "a constant";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs StableHLO_StaticTensor:$output);
  let hasFolder = 1;
  let assemblyFormat = "attr-dict $value";
}

def CHLO_ConstantLikeOp : CHLO_Op<"constant_like", [Pure, StableHLO_InfersTypes]> {
  let summary = "one number in every element of a tensor of the operand's shape";
  let arguments = (ins StableHLO_Tensor:$operand, TypedAttrInterface:$value);
  let results = (outs StableHLO_Tensor:$result);
}

def CHLO_TopKOp : CHLO_Op<"top_k", [Pure, StableHLO_InfersTypes]> {
  let summary = "the k greatest elements along the last dimension, in order, and their indices";
  let arguments = (ins StableHLO_Tensor:$operand, I64Attr:$k);
  let results = (outs StableHLO_Tensor:$values, StableHLO_Tensor:$indices);
  let assemblyFormat = [{
    `(` $operand `,` `k` `=` $k `)` attr-dict `:` type($operand) `->` `(` type($values) `,` type($indices) `)`
  }];
}

// One dimension of lhs, the ragged one, is cut into groups of group_sizes rows:
//   a free dimension of lhs       lhs [b, m, k]  rhs [g, b, k, n]  ->  [b, m, n]     each group its own matrix
//   a contracting dimension       lhs [b, m, k]  rhs [b, k, n]     ->  [g, b, m, n]  each group its own sum
//   a batch dimension             lhs [b, m, k]  rhs [b, k, n]     ->  [b, m, n]
def CHLO_RaggedDotOp : CHLO_Op<"ragged_dot", [Pure]> {
  let summary = "dot_general of groups of rows";
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs, StableHLO_IntTensor:$group_sizes,
    CHLO_RaggedDotDimensionNumbersAttr:$ragged_dot_dimension_numbers,
    CHLO_PrecisionConfigAttr:$precision_config);
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
}

// body takes an element of each input (the scanned dimension dropped) and the carries, and returns an element
// of each output and the carries.
def CHLO_ScanOp : CHLO_Op<"scan", [RecursiveMemoryEffects, AttrSizedOperandSegments, AttrSizedResultSegments,
    StableHLO_InfersTypes, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "body applied to each element along a dimension, with values carried from one to the next";
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, Variadic<StableHLO_Tensor>:$inits,
    I64Attr:$dimension, OptionalAttr<I64Attr>:$scan_dim_size,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$is_reverse, OptionalAttr<BoolAttr>:$is_associative);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<StableHLO_Tensor>:$outputs, Variadic<StableHLO_Tensor>:$carries);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

#endif
