// Control flow and calls out of the program.
#ifndef TORCHERE_STABLEHLO_CONTROL
#define TORCHERE_STABLEHLO_CONTROL

include "op_base.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def StableHLO_ReturnOp : StableHLO_Op<"return", [Pure, ReturnLike, Terminator]> {
  let summary = "end of a region";
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "$results attr-dict (`:` type($results)^)?";
}

def StableHLO_WhileOp : StableHLO_VerifiedOp<"while", [RecursiveMemoryEffects, StableHLO_InfersTypes,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "body repeated for as long as cond holds";
  let arguments = (ins Variadic<AnyType>:$operand);
  let regions = (region SizedRegion<1>:$cond, SizedRegion<1>:$body);
  let results = (outs Variadic<AnyType>);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_CustomCallOp : StableHLO_VerifiedOp<"custom_call",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "call of something that the implementation provides";
  let arguments = (ins Variadic<AnyType>:$inputs, StrAttr:$call_target_name,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$has_side_effect,
    OptionalAttr<AnyAttrOf<[StrAttr, DictionaryAttr]>>:$backend_config,
    DefaultValuedOptionalAttr<StableHLO_CustomCallApiVersionAttr,
      "::torchere::stablehlo::CustomCallApiVersion::API_VERSION_ORIGINAL">:$api_version,
    DefaultValuedOptionalAttr<TypedArrayAttrBase<FlatSymbolRefAttr, "functions">, "{}">:$called_computations,
    OptionalAttr<ArrayAttr>:$operand_layouts, OptionalAttr<ArrayAttr>:$result_layouts,
    DefaultValuedOptionalAttr<TypedArrayAttrBase<StableHLO_OutputOperandAliasAttr, "aliases">,
                              "{}">:$output_operand_aliases);
  let results = (outs Variadic<AnyType>);
  let assemblyFormat = [{
    custom<CustomCallTarget>($call_target_name) `(` $inputs `)` attr-dict `:` functional-type(operands, results)
  }];
}

#endif
