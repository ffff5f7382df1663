// Constants, and ops that rearrange elements, with shapes known or inferred from the attributes.
#ifndef TORCHERE_STABLEHLO_SHAPE
#define TORCHERE_STABLEHLO_SHAPE

include "op_base.td"
include "mlir/IR/OpAsmInterface.td"

// A quantized constant is given by the integers that it stores.
def StableHLO_InfersStorage : InferTypeOpAdaptorBase<[{
  static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange declared) {
    return ::torchere::stablehlo::areStoredAs(declared, inferred);
  }
}]>;

def StableHLO_ConstantOp : StableHLO_Op<"constant", [Pure, ConstantLike, StableHLO_InfersStorage,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a constant";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs StableHLO_StaticTensor:$output);
  let hasFolder = 1;
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_BitcastConvertOp : StableHLO_VerifiedOp<"bitcast_convert", [Pure]> {
  let summary = "the same bits as elements of another type";
  let arguments = (ins StableHLO_PerAxisTensor:$operand);
  let results = (outs StableHLO_PerAxisTensor:$result);
  let hasFolder = 1;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

// Not in the specification: it became broadcast_in_dim.
def StableHLO_BroadcastOp : StableHLO_Op<"broadcast", [Pure, StableHLO_InfersTypes]> {
  let summary = "operand repeated along new leading dimensions";
  let arguments = (ins StableHLO_Tensor:$operand, DenseI64ArrayAttr:$broadcast_sizes);
  let results = (outs StableHLO_Tensor:$result);
  let hasFolder = 1;
  let assemblyFormat = [{
    $operand `,` `sizes` `=` $broadcast_sizes attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_BroadcastInDimOp : StableHLO_VerifiedOp<"broadcast_in_dim", [Pure]> {
  let summary = "operand repeated along new dimensions and dimensions of size 1";
  let arguments = (ins StableHLO_PerAxisTensor:$operand, DenseI64ArrayAttr:$broadcast_dimensions);
  let results = (outs StableHLO_StaticOrBoundedTensor:$result);
  let hasFolder = 1;
  let assemblyFormat = [{
    $operand `,` `dims` `=` $broadcast_dimensions attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_ConcatenateOp : StableHLO_Op<"concatenate", [Pure, StableHLO_InfersTypes]> {
  let summary = "tensors joined along one dimension";
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, I64Attr:$dimension);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    custom<VariadicOperandWithAttribute>($inputs) `dim` `=` $dimension attr-dict `:`
    functional-type(operands, results)
  }];
}

def StableHLO_GetDimensionSizeOp : StableHLO_Op<"get_dimension_size", [Pure, StableHLO_InfersTypes]> {
  let summary = "size of one dimension";
  let arguments = (ins StableHLO_PerAxisTensor:$operand, I64Attr:$dimension);
  let results = (outs 0DTensorOf<[I32]>:$result);
  let hasFolder = 1;
  let assemblyFormat = "$operand `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, results)";
}

def StableHLO_IotaOp : StableHLO_VerifiedOp<"iota", [Pure]> {
  let summary = "indices along one dimension";
  let arguments = (ins I64Attr:$iota_dimension);
  let results = (outs StableHLO_StaticNumberTensor:$output);
  let assemblyFormat = "`dim` `=` $iota_dimension attr-dict `:` type($output)";
}

def StableHLO_PadOp : StableHLO_Op<"pad", [Pure, StableHLO_InfersTypes]> {
  let summary = "padding around and between elements";
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_ScalarTensor:$padding_value,
    DenseI64ArrayAttr:$edge_padding_low, DenseI64ArrayAttr:$edge_padding_high,
    DenseI64ArrayAttr:$interior_padding);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $padding_value `,` `low` `=` $edge_padding_low `,` `high` `=` $edge_padding_high `,`
    `interior` `=` $interior_padding attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_ReshapeOp : StableHLO_VerifiedOp<"reshape", [Pure]> {
  let summary = "the same elements in another shape";
  let arguments = (ins StableHLO_PerAxisTensor:$operand);
  let results = (outs StableHLO_StaticOrBoundedTensor:$result);
  let hasFolder = 1;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def StableHLO_ReverseOp
    : StableHLO_VerifiedOp<"reverse", [Pure, StableHLO_CompatibleOperandsAndResult]> {
  let summary = "elements in reverse order along dimensions";
  let arguments = (ins StableHLO_Tensor:$operand, DenseI64ArrayAttr:$dimensions);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `dims` `=` $dimensions attr-dict `:`
    custom<SameOperandsAndResultType>(type($operand), type($result))
  }];
}

def StableHLO_TransposeOp : StableHLO_Op<"transpose", [Pure, StableHLO_InfersTypes]> {
  let summary = "dimensions permuted";
  let arguments = (ins StableHLO_PerAxisTensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs StableHLO_PerAxisTensor:$result);
  let hasFolder = 1;
  let assemblyFormat = "$operand `,` `dims` `=` $permutation attr-dict `:` functional-type(operands, results)";
}

#endif
