// The interpreter dialect: ops that let values be seen while a program is interpreted.
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

#endif
