// Types of values that are no tensors.
#ifndef TORCHERE_STABLEHLO_VALUE_TYPES
#define TORCHERE_STABLEHLO_VALUE_TYPES

include "dialect.td"
include "mlir/IR/AttrTypeBase.td"

// The summaries stand in errors: "operand #0 must be token".

// Orders ops that have side effects.
def StableHLO_Token : TypeDef<StableHLO_Dialect, "Token"> {
  let summary = "token";
  let mnemonic = "token";
}

// Tensors that an op has begun to compute.
def StableHLO_Future : TypeDef<StableHLO_Dialect, "Future"> {
  let summary = "future";
  let mnemonic = "future";
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$types);
  let assemblyFormat = "`<` $types `>`";
  let genVerifyDecl = 1;
}

#endif
