// Types of values that are not tensors.
#ifndef TORCHERE_STABLEHLO_VALUE_TYPES
#define TORCHERE_STABLEHLO_VALUE_TYPES

include "dialect.td"
include "mlir/IR/AttrTypeBase.td"

def StableHLO_TokenType : TypeDef<StableHLO_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "orders ops that have effects";
}

def StableHLO_Token : Type<CPred<"::llvm::isa<::torchere::stablehlo::TokenType>($_self)">, "token",
                           "::torchere::stablehlo::TokenType">;

#endif
