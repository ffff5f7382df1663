// Elementwise functions of CHLO, on operands of one shape.
#ifndef TORCHERE_STABLEHLO_CHLO_ELEMENTWISE
#define TORCHERE_STABLEHLO_CHLO_ELEMENTWISE

include "chlo_op_base.td"

class CHLO_UnaryOp<string mnemonic, Type tensor, string text>
    : CHLO_Op<mnemonic, [Pure, StableHLO_CompatibleOperandsAndResult]> {
  let summary = text;
  let arguments = (ins tensor:$operand);
  let results = (outs tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}
class CHLO_FloatOp<string mnemonic, string text> : CHLO_UnaryOp<mnemonic, StableHLO_FloatTensor, text>;
class CHLO_FloatOrComplexOp<string mnemonic, string text>
    : CHLO_UnaryOp<mnemonic, StableHLO_FloatOrComplexTensor, text>;

def CHLO_AsinAcosKernelOp
    : CHLO_UnaryOp<"_asin_acos_kernel", StableHLO_TensorOf<[StableHLO_Complex]>,
                   "what the inverse sine, cosine and their hyperbolic kin of a complex number share">;
def CHLO_AcosOp : CHLO_FloatOrComplexOp<"acos", "inverse cosine">;
def CHLO_AcoshOp : CHLO_FloatOrComplexOp<"acosh", "inverse hyperbolic cosine">;
def CHLO_AsinOp : CHLO_FloatOrComplexOp<"asin", "inverse sine">;
def CHLO_AsinhOp : CHLO_FloatOrComplexOp<"asinh", "inverse hyperbolic sine">;
def CHLO_AtanOp : CHLO_FloatOrComplexOp<"atan", "inverse tangent">;
def CHLO_AtanhOp : CHLO_FloatOrComplexOp<"atanh", "inverse hyperbolic tangent">;
def CHLO_BesselI1eOp
    : CHLO_FloatOrComplexOp<"bessel_i1e", "modified Bessel function of order 1, scaled by exp(-|x|)">;
def CHLO_ConjOp : CHLO_FloatOrComplexOp<"conj", "complex conjugate">;
def CHLO_CoshOp : CHLO_FloatOrComplexOp<"cosh", "hyperbolic cosine">;
def CHLO_DigammaOp : CHLO_FloatOp<"digamma", "derivative of lgamma">;
def CHLO_ErfInvOp : CHLO_FloatOp<"erf_inv", "inverse of erf">;
def CHLO_ErfOp : CHLO_FloatOp<"erf", "error function">;
def CHLO_ErfcOp : CHLO_FloatOp<"erfc", "1 - erf(x)">;
def CHLO_LgammaOp : CHLO_FloatOp<"lgamma", "logarithm of the gamma function's magnitude">;
def CHLO_SinhOp : CHLO_FloatOrComplexOp<"sinh", "hyperbolic sine">;
def CHLO_SquareOp : CHLO_FloatOrComplexOp<"square", "x * x">;
def CHLO_TanOp : CHLO_FloatOrComplexOp<"tan", "tangent">;

class CHLO_PredicateOp<string mnemonic, string text> : CHLO_Op<mnemonic, [Pure, StableHLO_InfersTypes]> {
  let summary = text;
  let arguments = (ins StableHLO_FloatTensor:$operand);
  let results = (outs StableHLO_BoolTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}

def CHLO_IsInfOp : CHLO_PredicateOp<"is_inf", "whether each element is infinite">;
def CHLO_IsNegInfOp : CHLO_PredicateOp<"is_neg_inf", "whether each element is minus infinity">;
def CHLO_IsPosInfOp : CHLO_PredicateOp<"is_pos_inf", "whether each element is plus infinity">;

class CHLO_BinaryOp<string mnemonic, dag operands, Type tensor, string format, string text>
    : CHLO_Op<mnemonic, [Pure, StableHLO_CompatibleOperandsAndResult]> {
  let summary = text;
  let arguments = operands;
  let results = (outs tensor:$result);
  let assemblyFormat = format;
}

def CHLO_MulhiOp : CHLO_BinaryOp<"mulhi", (ins StableHLO_IntTensor:$lhs, StableHLO_IntTensor:$rhs),
  StableHLO_IntTensor, "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type(results)",
  "upper half of the product's bits">;
def CHLO_NextAfterOp : CHLO_BinaryOp<"next_after", (ins StableHLO_FloatTensor:$x, StableHLO_FloatTensor:$y),
  StableHLO_FloatTensor, "$x `,` $y attr-dict `:` type($x) `,` type($y) `->` type(results)",
  "the number that follows x in the direction of y">;
def CHLO_PolygammaOp : CHLO_BinaryOp<"polygamma", (ins StableHLO_FloatTensor:$n, StableHLO_FloatTensor:$x),
  StableHLO_FloatTensor, "$n `,` $x attr-dict `:` type($n) `,` type($x) `->` type(results)",
  "derivative n of digamma">;
def CHLO_ZetaOp : CHLO_BinaryOp<"zeta", (ins StableHLO_FloatTensor:$x, StableHLO_FloatTensor:$q),
  StableHLO_FloatTensor, "$x `,` $q attr-dict `:` type($x) `,` type($q) `->` type(results)",
  "Hurwitz zeta function, the sum of (q + k)^-x for k = 0, 1, ...">;

#endif
