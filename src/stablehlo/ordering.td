// Ops that order other ops, and tokens.
#ifndef TORCHERE_STABLEHLO_ORDERING
#define TORCHERE_STABLEHLO_ORDERING

include "op_base.td"

def StableHLO_AfterAllOp : StableHLO_Op<"after_all", [Pure, StableHLO_InfersTypes]> {
  let summary = "token that is there once all inputs are";
  let arguments = (ins Variadic<StableHLO_Token>:$inputs);
  let results = (outs StableHLO_Token:$result);
  let assemblyFormat = [{
    $inputs attr-dict `:` custom<VariadicSameOperandsAndResultType>(ref($inputs), type($inputs), type($result))
  }];
}

def StableHLO_CreateTokenOp : StableHLO_Op<"create_token", [Pure, StableHLO_InfersTypes]> {
  let summary = "token that depends on nothing; after_all without inputs";
  let results = (outs StableHLO_Token:$output);
  let assemblyFormat = "attr-dict `:` type(results)";
}

def StableHLO_OptimizationBarrierOp
    : StableHLO_VerifiedOp<"optimization_barrier", [Pure, StableHLO_InfersTypes]> {
  let summary = "operands, across which the compiler moves no op";
  let arguments = (ins Variadic<StableHLO_TensorOrToken>:$operand);
  let results = (outs Variadic<StableHLO_TensorOrToken>:$result);
  let assemblyFormat = [{
    attr-dict ($operand^ `:` custom<PairwiseOpType>(type($operand), type($result))):(`(` `)`)?
  }];
}

#endif
