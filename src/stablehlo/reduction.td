// Reductions, windowed or not, sorting and map: ops that apply a computation of scalars.
#ifndef TORCHERE_STABLEHLO_REDUCTION
#define TORCHERE_STABLEHLO_REDUCTION

include "op_base.td"

def StableHLO_ReduceOp : StableHLO_VerifiedOp<"reduce",
    [RecursiveMemoryEffects, SameVariadicOperandSize, StableHLO_InfersTypes]> {
  let summary = "elements along dimensions combined by body";
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, Variadic<StableHLO_Tensor>:$init_values,
    DenseI64ArrayAttr:$dimensions);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<StableHLO_Tensor>);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_ReduceWindowOp : StableHLO_VerifiedOp<"reduce_window",
    [RecursiveMemoryEffects, SameVariadicOperandSize, StableHLO_InfersTypes]> {
  let summary = "elements of each window combined by body";
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, Variadic<StableHLO_Tensor>:$init_values,
    DenseI64ArrayAttr:$window_dimensions, OptionalAttr<DenseI64ArrayAttr>:$window_strides,
    OptionalAttr<DenseI64ArrayAttr>:$base_dilations, OptionalAttr<DenseI64ArrayAttr>:$window_dilations,
    OptionalAttr<I64ElementsAttr>:$padding);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<StableHLO_Tensor>);
}

def StableHLO_SortOp : StableHLO_VerifiedOp<"sort", [RecursiveMemoryEffects, StableHLO_InfersTypes]> {
  let summary = "tensors sorted together along one dimension";
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs,
    DefaultValuedOptionalAttr<I64Attr, "-1">:$dimension,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$is_stable);
  let regions = (region SizedRegion<1>:$comparator);
  let results = (outs Variadic<StableHLO_Tensor>);
}

def StableHLO_MapOp : StableHLO_VerifiedOp<"map", [RecursiveMemoryEffects, StableHLO_InfersTypes]> {
  let summary = "computation applied to the inputs' elements";
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, DenseI64ArrayAttr:$dimensions);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs StableHLO_Tensor);
}

def StableHLO_SelectAndScatterOp
    : StableHLO_VerifiedOp<"select_and_scatter", [RecursiveMemoryEffects, StableHLO_InfersTypes]> {
  let summary = "source's elements scattered to the selected element of each window of operand";
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_Tensor:$source, StableHLO_ScalarTensor:$init_value,
    OptionalAttr<DenseI64ArrayAttr>:$window_dimensions, OptionalAttr<DenseI64ArrayAttr>:$window_strides,
    OptionalAttr<I64ElementsAttr>:$padding);
  let regions = (region SizedRegion<1>:$select, SizedRegion<1>:$scatter);
  let results = (outs StableHLO_Tensor:$result);
}

#endif
