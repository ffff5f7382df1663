// Tuples, as HLO programs have them.
#ifndef TORCHERE_STABLEHLO_TUPLE
#define TORCHERE_STABLEHLO_TUPLE

include "op_base.td"

def StableHLO_TupleOp : StableHLO_VerifiedOp<"tuple", [Pure, StableHLO_InfersTypes]> {
  let summary = "several values as one";
  let arguments = (ins Variadic<StableHLO_TensorTokenBufferOrTuple>:$val);
  let results = (outs StableHLO_Tuple:$result);
  let assemblyFormat = "$val attr-dict `:` custom<TupleOpType>(type($val), type($result))";
}

def StableHLO_GetTupleElementOp : StableHLO_Op<"get_tuple_element", [Pure, StableHLO_InfersTypes]> {
  let summary = "one value of a tuple";
  let arguments = (ins StableHLO_Tuple:$operand, I32Attr:$index);
  let results = (outs StableHLO_TensorTokenBufferOrTuple:$result);
  let hasFolder = 1;
  let assemblyFormat = "$operand `[` $index `]` attr-dict `:` functional-type(operands, results)";
}

#endif
