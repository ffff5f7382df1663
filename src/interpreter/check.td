// The check dialect: assertions in programs that test an interpreter.
#ifndef TORCHERE_INTERPRETER_CHECK
#define TORCHERE_INTERPRETER_CHECK

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"
include "types.td"

def Check_Dialect : Dialect {
  let name = "check";
  let cppNamespace = "::torchere::interpreter";
  let summary = "Assertions about the values of an interpreted program.";
}

class Check_Op<string mnemonic, list<Trait> traits = []> : Op<Check_Dialect, mnemonic, traits>;

def Check_ExpectEqOp : Check_Op<"expect_eq", [SameTypeOperands]> {
  let summary = "lhs has exactly the elements of rhs";
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
}

def Check_ExpectEqConstOp : Check_Op<"expect_eq_const", [AllTypesMatch<["lhs", "value"]>]> {
  let summary = "lhs has exactly the elements of the constant";
  let arguments = (ins StableHLO_Tensor:$lhs, ElementsAttr:$value);
  let assemblyFormat = "$lhs `,` $value attr-dict";
}

def Check_ExpectAlmostEqOp : Check_Op<"expect_almost_eq", [SameTypeOperands]> {
  let summary = "lhs has the elements of rhs, but for a tolerance";
  let arguments = (ins StableHLO_FloatOrComplexTensor:$lhs, StableHLO_FloatOrComplexTensor:$rhs,
    DefaultValuedOptionalAttr<F64Attr, "1e-3">:$tolerance);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
}

def Check_ExpectAlmostEqConstOp : Check_Op<"expect_almost_eq_const", [AllTypesMatch<["lhs", "value"]>]> {
  let summary = "lhs has the elements of the constant, but for a tolerance";
  let arguments = (ins StableHLO_FloatOrComplexTensor:$lhs, ElementsAttr:$value,
    DefaultValuedOptionalAttr<F64Attr, "1e-3">:$tolerance);
  let assemblyFormat = "$lhs `,` $value attr-dict";
}

def Check_ExpectCloseOp : Check_Op<"expect_close", [SameTypeOperands]> {
  let summary = "actual lies a number of representable values away from expected";
  let arguments = (ins StableHLO_FloatOrComplexTensor:$actual, StableHLO_FloatOrComplexTensor:$expected,
    DefaultValuedOptionalAttr<UI64Attr, "3">:$max_ulp_difference,
    DefaultValuedOptionalAttr<UI64Attr, "0">:$min_ulp_difference);
  let assemblyFormat = [{
    $actual `,` $expected (`,` `max_ulp_difference` `=` $max_ulp_difference^)?
    (`,` `min_ulp_difference` `=` $min_ulp_difference^)? attr-dict `:` type($actual) `,` type($expected)
  }];
}

def Check_ExpectSerializedEqOp : Check_Op<"expect_serialized_eq"> {
  let summary = "a tensor that interpreter.probe has written has exactly these elements";
  let arguments = (ins StableHLO_Tensor:$expected, StrAttr:$probe_id,
    DefaultValuedOptionalAttr<UI32Attr, "1">:$iteration);
  let assemblyFormat = [{
    $expected `,` `probe_id` `=` $probe_id (`,` `iteration` `=` $iteration^)? attr-dict `:` type($expected)
  }];
}

#endif
