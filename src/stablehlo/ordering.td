// Ops that order other ops without tokens.
#ifndef TORCHERE_STABLEHLO_ORDERING
#define TORCHERE_STABLEHLO_ORDERING

include "op_base.td"

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
