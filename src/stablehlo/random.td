// Random numbers.
#ifndef TORCHERE_STABLEHLO_RANDOM
#define TORCHERE_STABLEHLO_RANDOM

include "op_base.td"

// Not pure: it may draw from a state that the program does not see.
def StableHLO_RngOp : StableHLO_VerifiedOp<"rng"> {
  let summary = "random numbers of a distribution";
  let arguments = (ins StableHLO_ScalarBoolIntOrFloatTensor:$a, StableHLO_ScalarBoolIntOrFloatTensor:$b,
    StableHLO_DimensionTensor:$shape, StableHLO_RngDistributionAttr:$rng_distribution);
  let results = (outs StableHLO_BoolIntOrFloatTensor:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $shape `,` `distribution` `=` `` $rng_distribution attr-dict `:`
    functional-type(operands, results)
  }];
}

def StableHLO_RngBitGeneratorOp : StableHLO_VerifiedOp<"rng_bit_generator", [Pure]> {
  let summary = "uniform random bits and the generator's next state";
  let arguments = (ins StableHLO_RngAlgorithmAttr:$rng_algorithm, StableHLO_IntOrFloatTensor:$initial_state);
  let results = (outs StableHLO_IntOrFloatTensor:$output_state, StableHLO_StaticIntOrFloatTensor:$output);
  let assemblyFormat = [{
    $initial_state `,` `algorithm` `=` `` $rng_algorithm attr-dict `:` functional-type(operands, results)
  }];
}

#endif
