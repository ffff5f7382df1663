// Control flow and calls out of the program.
#ifndef TORCHERE_STABLEHLO_CONTROL
#define TORCHERE_STABLEHLO_CONTROL

include "op_base.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def StableHLO_ReturnOp : StableHLO_Op<"return", [Pure, ReturnLike, Terminator]> {
  let summary = "end of a region";
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "$results attr-dict (`:` type($results)^)?";
}

def StableHLO_WhileOp : StableHLO_VerifiedOp<"while", [RecursiveMemoryEffects, StableHLO_InfersTypes,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "body repeated for as long as cond holds";
  let arguments = (ins Variadic<StableHLO_TensorTokenOrBuffer>:$operand);
  let regions = (region SizedRegion<1>:$cond, SizedRegion<1>:$body);
  let results = (outs Variadic<StableHLO_TensorTokenOrBuffer>);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_IfOp : StableHLO_Op<"if", [RecursiveMemoryEffects, StableHLO_InfersTypes]> {
  let summary = "what true_branch or false_branch returns";
  let arguments = (ins StableHLO_ScalarBoolTensor:$pred);
  let regions = (region SizedRegion<1>:$true_branch, SizedRegion<1>:$false_branch);
  let results = (outs Variadic<StableHLO_PerAxisTensorOrToken>);
}

def StableHLO_CaseOp : StableHLO_Op<"case", [RecursiveMemoryEffects, StableHLO_InfersTypes]> {
  let summary = "what the branch of a computed index returns";
  let arguments = (ins StableHLO_ScalarInt32Tensor:$index);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let results = (outs Variadic<StableHLO_PerAxisTensorOrToken>);
}

def StableHLO_CompositeOp
    : StableHLO_VerifiedOp<"composite", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "op that is made of others, in a function of the program";
  let arguments = (ins Variadic<AnyType>:$inputs, StrAttr:$name,
    DefaultValuedOptionalAttr<DictionaryAttr, "{}">:$composite_attributes, FlatSymbolRefAttr:$decomposition,
    DefaultValuedOptionalAttr<I32Attr, "0">:$version);
  let regions = (region VariadicRegion<AnyRegion>:$composite_regions);
  let results = (outs Variadic<AnyType>);
  let assemblyFormat = [{
    $name $inputs (` ` `(` $composite_regions^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_CustomCallOp : StableHLO_VerifiedOp<"custom_call",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "call of something that the implementation provides";
  let arguments = (ins Variadic<StableHLO_CustomCallValue>:$inputs, StrAttr:$call_target_name,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$has_side_effect,
    OptionalAttr<AnyAttrOf<[StrAttr, DictionaryAttr]>>:$backend_config,
    DefaultValuedOptionalAttr<StableHLO_CustomCallApiVersionAttr,
      "::torchere::stablehlo::CustomCallApiVersion::API_VERSION_ORIGINAL">:$api_version,
    DefaultValuedOptionalAttr<TypedArrayAttrBase<FlatSymbolRefAttr, "functions">, "{}">:$called_computations,
    OptionalAttr<ArrayAttr>:$operand_layouts, OptionalAttr<ArrayAttr>:$result_layouts,
    DefaultValuedOptionalAttr<TypedArrayAttrBase<StableHLO_OutputOperandAliasAttr, "aliases">,
                              "{}">:$output_operand_aliases,
    OptionalAttr<ArrayAttr>:$result_tilings);
  let results = (outs Variadic<StableHLO_CustomCallValue>);
  let assemblyFormat = [{
    custom<CustomCallTarget>($call_target_name) `(` $inputs `)` attr-dict `:` functional-type(operands, results)
  }];
}

#endif
