// Ops that read or replace parts of a tensor.
#ifndef TORCHERE_STABLEHLO_INDEXING
#define TORCHERE_STABLEHLO_INDEXING

include "op_base.td"

def StableHLO_SliceOp : StableHLO_Op<"slice", [Pure, StableHLO_InfersTypes]> {
  let summary = "part of a tensor, by constant indices";
  let arguments = (ins StableHLO_Tensor:$operand, DenseI64ArrayAttr:$start_indices,
    DenseI64ArrayAttr:$limit_indices, DenseI64ArrayAttr:$strides);
  let results = (outs StableHLO_Tensor:$result);
  let hasFolder = 1;
  let assemblyFormat = [{
    $operand custom<SliceRanges>($start_indices, $limit_indices, $strides) attr-dict `:`
    functional-type(operands, results)
  }];
}

def StableHLO_DynamicSliceOp : StableHLO_Op<"dynamic_slice", [Pure, StableHLO_InfersTypes]> {
  let summary = "part of a tensor of constant size, by computed indices";
  let arguments = (ins StableHLO_Tensor:$operand, Variadic<StableHLO_ScalarIntTensor>:$start_indices,
    DenseI64ArrayAttr:$slice_sizes);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` custom<VariadicOperandWithAttribute>($start_indices) `sizes` `=` $slice_sizes attr-dict `:`
    functional-type(operands, results)
  }];
}

def StableHLO_DynamicUpdateSliceOp
    : StableHLO_Op<"dynamic_update_slice", [Pure, StableHLO_InfersTypes]> {
  let summary = "tensor with one part replaced";
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_Tensor:$update,
    Variadic<StableHLO_ScalarIntTensor>:$start_indices);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def StableHLO_GatherOp : StableHLO_Op<"gather", [Pure, StableHLO_InfersTypes]> {
  let summary = "slices at computed indices";
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_IntTensor:$start_indices,
    StableHLO_GatherDimensionNumbersAttr:$dimension_numbers, DenseI64ArrayAttr:$slice_sizes,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
  let results = (outs StableHLO_Tensor:$result);
}

def StableHLO_ScatterOp : StableHLO_VerifiedOp<"scatter",
    [RecursiveMemoryEffects, SameVariadicOperandSize, StableHLO_InfersTypes]> {
  let summary = "tensors with slices at computed indices updated";
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs,
    StableHLO_TensorOf<[StableHLO_Int, StableHLO_Index]>:$scatter_indices,
    Variadic<StableHLO_Tensor>:$updates, StableHLO_ScatterDimensionNumbersAttr:$scatter_dimension_numbers,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$unique_indices);
  let regions = (region SizedRegion<1>:$update_computation);
  let results = (outs Variadic<StableHLO_Tensor>);
}

// Not in the specification: it became gather.
def StableHLO_TorchIndexSelectOp : StableHLO_Op<"torch_index_select", [Pure]> {
  let summary = "slices of one dimension at computed indices, for each batch";
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_Tensor:$index, I64Attr:$dim, I64Attr:$batch_dims);
  let results = (outs StableHLO_Tensor:$result);
}

#endif
