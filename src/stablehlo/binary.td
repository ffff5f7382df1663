// Elementwise ops of two and three operands.
#ifndef TORCHERE_STABLEHLO_BINARY
#define TORCHERE_STABLEHLO_BINARY

include "op_base.td"

class StableHLO_BinaryOp<string mnemonic, Type tensor, string text, list<Trait> traits = []>
    : StableHLO_Op<mnemonic, !listconcat([Pure, StableHLO_CompatibleOperandsAndResult], traits)> {
  let summary = text;
  let arguments = (ins tensor:$lhs, tensor:$rhs);
  let results = (outs tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` custom<SameOperandsAndResultType>(type($lhs), type($rhs), type($result))
  }];
}

def StableHLO_AndOp
    : StableHLO_BinaryOp<"and", StableHLO_BoolOrIntTensor, "logical or bitwise and", [Commutative]>;
def StableHLO_Atan2Op
    : StableHLO_BinaryOp<"atan2", StableHLO_FunctionTensor, "angle of the point (rhs, lhs)">;
def StableHLO_DivOp : StableHLO_BinaryOp<"divide", StableHLO_NumberTensor, "quotient, towards zero">;
def StableHLO_MaxOp
    : StableHLO_BinaryOp<"maximum", StableHLO_Tensor, "the greater; logical or of booleans", [Commutative]>;
def StableHLO_MinOp
    : StableHLO_BinaryOp<"minimum", StableHLO_Tensor, "the lesser; logical and of booleans", [Commutative]>;
def StableHLO_MulOp
    : StableHLO_BinaryOp<"multiply", StableHLO_Tensor, "product; logical and of booleans", [Commutative]>;
def StableHLO_OrOp : StableHLO_BinaryOp<"or", StableHLO_BoolOrIntTensor, "logical or bitwise or", [Commutative]>;
def StableHLO_PowOp : StableHLO_BinaryOp<"power", StableHLO_NumberTensor, "lhs to the power of rhs">;
def StableHLO_RemOp
    : StableHLO_BinaryOp<"remainder", StableHLO_NumberTensor, "remainder, with the sign of lhs">;
def StableHLO_ShiftLeftOp : StableHLO_BinaryOp<"shift_left", StableHLO_IntTensor, "left shift">;
def StableHLO_ShiftRightArithmeticOp
    : StableHLO_BinaryOp<"shift_right_arithmetic", StableHLO_IntTensor, "right shift that copies the sign">;
def StableHLO_ShiftRightLogicalOp
    : StableHLO_BinaryOp<"shift_right_logical", StableHLO_IntTensor, "right shift that inserts zeros">;
def StableHLO_SubtractOp
    : StableHLO_BinaryOp<"subtract", StableHLO_NumberTensor, "difference">;
def StableHLO_XorOp
    : StableHLO_BinaryOp<"xor", StableHLO_BoolOrIntTensor, "logical or bitwise exclusive or", [Commutative]>;

// Alone among these, it takes operands whose scales are per axis.
def StableHLO_AddOp : StableHLO_VerifiedOp<"add", [Pure, Commutative, StableHLO_InfersBaselines]> {
  let summary = "sum; logical or of booleans";
  let arguments = (ins StableHLO_PerAxisTensor:$lhs, StableHLO_PerAxisTensor:$rhs);
  let results = (outs StableHLO_PerAxisTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` custom<SameOperandsAndResultType>(type($lhs), type($rhs), type($result))
  }];
}

def StableHLO_ComplexOp : StableHLO_Op<"complex", [Pure, StableHLO_InfersTypes]> {
  let summary = "complex number of a real part, lhs, and an imaginary part, rhs";
  let arguments = (ins StableHLO_Float32Or64Tensor:$lhs, StableHLO_Float32Or64Tensor:$rhs);
  let results = (outs StableHLO_ComplexTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` custom<ComplexOpType>(type($lhs), type($rhs), type($result))
  }];
}

def StableHLO_CompareOp : StableHLO_Op<"compare", [Pure, StableHLO_InfersTypes]> {
  let summary = "comparison";
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs,
    StableHLO_ComparisonDirectionAttr:$comparison_direction,
    OptionalAttr<StableHLO_ComparisonTypeAttr>:$compare_type);
  let results = (outs StableHLO_BoolTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs,
    "::torchere::stablehlo::ComparisonDirection":$direction,
    CArg<"::torchere::stablehlo::ComparisonType",
         "::torchere::stablehlo::ComparisonType::NOTYPE">:$type)>];
  let assemblyFormat = [{
    `` $comparison_direction `,` $lhs `,` $rhs (`,` `` $compare_type^)? attr-dict `:`
    functional-type(operands, results)
  }];
}

def StableHLO_SelectOp : StableHLO_VerifiedOp<"select", [Pure, StableHLO_InfersBaselines]> {
  let summary = "on_true where pred holds, on_false elsewhere";
  let arguments = (ins StableHLO_BoolTensor:$pred, StableHLO_Tensor:$on_true, StableHLO_Tensor:$on_false);
  let results = (outs StableHLO_Tensor:$result);
  let hasFolder = 1;
  let assemblyFormat = [{
    operands attr-dict `:`
    custom<SelectOpType>(type($pred), type($on_true), type($on_false), type($result))
  }];
}

def StableHLO_ClampOp : StableHLO_VerifiedOp<"clamp", [Pure, StableHLO_InfersBaselines]> {
  let summary = "operand limited to the range from min to max";
  let arguments = (ins StableHLO_Tensor:$min, StableHLO_Tensor:$operand, StableHLO_Tensor:$max);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $min `,` $operand `,` $max attr-dict `:`
    custom<SameOperandsAndResultType>(type($min), type($operand), type($max), type($result))
  }];
}

#endif
