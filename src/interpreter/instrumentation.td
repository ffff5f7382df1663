// The interpreter dialect: ops that make values visible during interpretation, or run several programs at
// once.
#ifndef TORCHERE_INTERPRETER_INSTRUMENTATION
#define TORCHERE_INTERPRETER_INSTRUMENTATION

include "mlir/IR/OpBase.td"
include "types.td"

def Interpreter_Dialect : Dialect {
  let name = "interpreter";
  let cppNamespace = "::torchere::interpreter";
  let summary = "What an interpreter does beside the specification.";
}

class Interpreter_Op<string mnemonic>
    : Op<Interpreter_Dialect, mnemonic, [AllTypesMatch<["operand", "result"]>]>;

def Interpreter_PrintOp : Interpreter_Op<"print"> {
  let summary = "operand, which is printed to stdout";
  let arguments = (ins StableHLO_Tensor:$operand);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def Interpreter_ProbeOp : Interpreter_Op<"probe"> {
  let summary = "operand, which is written to PROBE_ID_N.npy the Nth time";
  let arguments = (ins StableHLO_Tensor:$operand, StrAttr:$probe_id);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = "$operand `,` `probe_id` `=` $probe_id attr-dict `:` type($result)";
}

def Interpreter_RunParallelOp : Op<Interpreter_Dialect, "run_parallel"> {
  let summary = "the results of programs that run in parallel, a row of them a replica, a column a partition";
  // The inputs are the concatenated arguments of the programs; infeed names functions without arguments,
  // whose results are fed.
  let arguments = (ins Variadic<StableHLO_TensorOrToken>:$inputs,
    TypedArrayAttrBase<TypedArrayAttrBase<FlatSymbolRefAttr, "functions">, "rows of functions">:$programs,
    OptionalAttr<TypedArrayAttrBase<FlatSymbolRefAttr, "functions">>:$infeed);
  let results = (outs Variadic<StableHLO_TensorOrToken>:$results);
}

#endif
