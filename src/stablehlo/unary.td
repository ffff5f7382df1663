// Elementwise ops of one operand.
#ifndef TORCHERE_STABLEHLO_UNARY
#define TORCHERE_STABLEHLO_UNARY

include "op_base.td"

class StableHLO_UnaryOp<string mnemonic, Type tensor, string text>
    : StableHLO_Op<mnemonic, [Pure, StableHLO_CompatibleOperandsAndResult]> {
  let summary = text;
  let arguments = (ins tensor:$operand);
  let results = (outs tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

// Functions whose accuracy a program can ask for.
class StableHLO_AccuracyOp<string mnemonic, Type tensor, string text> : StableHLO_UnaryOp<mnemonic, tensor, text> {
  let arguments = (ins tensor:$operand,
    DefaultValuedOptionalAttr<StableHLO_ResultAccuracyAttr,
      "::torchere::stablehlo::ResultAccuracyMode::DEFAULT">:$result_accuracy);
}

def StableHLO_AbsOp : StableHLO_Op<"abs", [Pure, StableHLO_InfersBaselines]> {
  let summary = "absolute value; the result of a complex operand is real";
  let arguments = (ins StableHLO_SignedNumberTensor:$operand);
  let results = (outs StableHLO_TensorOf<[StableHLO_SInt, StableHLO_Float, StableHLO_PerTensorQuantized]>:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

def StableHLO_CbrtOp : StableHLO_AccuracyOp<"cbrt", StableHLO_FunctionTensor, "cube root">;
def StableHLO_CeilOp : StableHLO_UnaryOp<"ceil", StableHLO_RealFunctionTensor, "the least integer not below">;
def StableHLO_ClzOp : StableHLO_UnaryOp<"count_leading_zeros", StableHLO_IntTensor, "number of leading zero bits">;
def StableHLO_CosineOp : StableHLO_AccuracyOp<"cosine", StableHLO_FunctionTensor, "cosine">;
def StableHLO_ExpOp : StableHLO_AccuracyOp<"exponential", StableHLO_FunctionTensor, "e to the power of">;
def StableHLO_Expm1Op
    : StableHLO_AccuracyOp<"exponential_minus_one", StableHLO_FunctionTensor, "e to the power of, less one">;
def StableHLO_FloorOp : StableHLO_UnaryOp<"floor", StableHLO_RealFunctionTensor, "the greatest integer not above">;
def StableHLO_Log1pOp : StableHLO_AccuracyOp<"log_plus_one", StableHLO_FunctionTensor, "log of one more than">;
def StableHLO_LogOp : StableHLO_AccuracyOp<"log", StableHLO_FunctionTensor, "natural logarithm">;
def StableHLO_LogisticOp : StableHLO_AccuracyOp<"logistic", StableHLO_FunctionTensor, "1 / (1 + exp(-x))">;
def StableHLO_NegOp : StableHLO_UnaryOp<"negate", StableHLO_NumberTensor, "negation">;
def StableHLO_NotOp : StableHLO_UnaryOp<"not", StableHLO_BoolOrIntTensor, "logical or bitwise complement">;
def StableHLO_PopulationCountOp : StableHLO_UnaryOp<"popcnt", StableHLO_IntTensor, "number of bits set">;
def StableHLO_RoundOp
    : StableHLO_UnaryOp<"round_nearest_afz", StableHLO_RealFunctionTensor, "nearest integer, ties away from zero">;
def StableHLO_RoundNearestEvenOp
    : StableHLO_UnaryOp<"round_nearest_even", StableHLO_RealFunctionTensor, "nearest integer, ties to even">;
def StableHLO_RsqrtOp : StableHLO_AccuracyOp<"rsqrt", StableHLO_FunctionTensor, "1 / sqrt(x)">;
def StableHLO_SignOp : StableHLO_UnaryOp<"sign", StableHLO_SignedNumberTensor, "sign">;
def StableHLO_SineOp : StableHLO_AccuracyOp<"sine", StableHLO_FunctionTensor, "sine">;
def StableHLO_SqrtOp : StableHLO_AccuracyOp<"sqrt", StableHLO_FunctionTensor, "square root">;
def StableHLO_TanOp : StableHLO_AccuracyOp<"tan", StableHLO_FunctionTensor, "tangent">;
def StableHLO_TanhOp : StableHLO_AccuracyOp<"tanh", StableHLO_FunctionTensor, "hyperbolic tangent">;

def StableHLO_IsFiniteOp : StableHLO_Op<"is_finite", [Pure, StableHLO_InfersTypes]> {
  let summary = "whether each element is neither infinite nor NaN";
  let arguments = (ins StableHLO_RealFunctionTensor:$x);
  let results = (outs StableHLO_BoolTensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def StableHLO_RealOp : StableHLO_Op<"real", [Pure, StableHLO_InfersTypes]> {
  let summary = "real part";
  let arguments = (ins StableHLO_FloatOrComplexTensor:$operand);
  let results = (outs StableHLO_FloatTensor:$result);
  let hasFolder = 1;
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

def StableHLO_ImagOp : StableHLO_Op<"imag", [Pure, StableHLO_InfersTypes]> {
  let summary = "imaginary part; zero of a real number";
  let arguments = (ins StableHLO_FloatOrComplexTensor:$operand);
  let results = (outs StableHLO_FloatTensor:$result);
  let hasFolder = 1;
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

def StableHLO_ReducePrecisionOp
    : StableHLO_VerifiedOp<"reduce_precision", [Pure, StableHLO_CompatibleOperandsAndResult]> {
  let summary = "rounding to a floating-point format of fewer bits";
  let arguments = (ins StableHLO_FloatTensor:$operand, I32Attr:$exponent_bits, I32Attr:$mantissa_bits);
  let results = (outs StableHLO_FloatTensor:$output);
  let assemblyFormat = [{
    $operand `,` `format` `=` custom<ExponentMantissa>($exponent_bits, $mantissa_bits) attr-dict `:`
    custom<SameOperandsAndResultType>(type($operand), type($output))
  }];
}

def StableHLO_ConvertOp : StableHLO_VerifiedOp<"convert", [Pure]> {
  let summary = "conversion to another element type";
  let arguments = (ins StableHLO_UnquantizedTensor:$operand);
  let results = (outs StableHLO_UnquantizedTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand, "::mlir::Type":$elementType)>];
  let hasFolder = 1;
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}

#endif
