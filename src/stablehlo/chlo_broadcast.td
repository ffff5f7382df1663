// Ops of CHLO that broadcast their operands: those of StableHLO without the prefix "broadcast_".
#ifndef TORCHERE_STABLEHLO_CHLO_BROADCAST
#define TORCHERE_STABLEHLO_CHLO_BROADCAST

include "chlo_op_base.td"

// The result has the operands' element type and the shape that they broadcast to.
def CHLO_BroadcastsOperandsTrait : NativeOpTrait<"BroadcastsOperands", [], [{
  static ::llvm::LogicalResult inferReturnTypes(
      ::mlir::MLIRContext *, std::optional<::mlir::Location> location, ::mlir::ValueRange operands,
      ::mlir::DictionaryAttr attributes, ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
      ::llvm::SmallVectorImpl<::mlir::Type> &types) {
    Adaptor adaptor(operands, attributes, properties, regions);
    return ::torchere::chlo::inferBroadcastType(getOperationName(), location, operands,
                                                adaptor.getBroadcastDimensions(), {}, types);
  }
  static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange declared) {
    return ::torchere::stablehlo::areCompatible(inferred, declared);
  }
}]> {
  let cppNamespace = "::torchere::chlo";
}
def CHLO_BroadcastsOperands : TraitList<[CHLO_BroadcastsOperandsTrait, InferTypeOpInterface]>;

class CHLO_BroadcastOpBase<string mnemonic, Type operand, Type result, string text, list<Trait> traits>
    : CHLO_Op<mnemonic, !listconcat([Pure], traits)> {
  let summary = text;
  // Without broadcast_dimensions the shapes are aligned at the end, as in numpy.
  let arguments = (ins operand:$lhs, operand:$rhs, OptionalAttr<DenseI64ArrayAttr>:$broadcast_dimensions);
  let results = (outs result:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` `(` type($lhs) `,` type($rhs) `)` `->` type(results)
  }];
}
class CHLO_BroadcastOp<string mnemonic, Type tensor, string text, list<Trait> traits = []>
    : CHLO_BroadcastOpBase<mnemonic, tensor, tensor, text,
                           !listconcat([CHLO_BroadcastsOperands], traits)>;

def CHLO_BroadcastAddOp : CHLO_BroadcastOp<"broadcast_add", StableHLO_Tensor, "sum", [Commutative]>;
def CHLO_BroadcastAndOp
    : CHLO_BroadcastOp<"broadcast_and", StableHLO_BoolOrIntTensor, "logical or bitwise and", [Commutative]>;
def CHLO_BroadcastAtan2Op
    : CHLO_BroadcastOp<"broadcast_atan2", StableHLO_Tensor, "angle of the point (rhs, lhs)">;
def CHLO_BroadcastDivOp : CHLO_BroadcastOp<"broadcast_divide", StableHLO_Tensor, "quotient">;
def CHLO_BroadcastMaxOp
    : CHLO_BroadcastOp<"broadcast_maximum", StableHLO_Tensor, "the greater", [Commutative]>;
def CHLO_BroadcastMinOp
    : CHLO_BroadcastOp<"broadcast_minimum", StableHLO_Tensor, "the lesser", [Commutative]>;
def CHLO_BroadcastMulOp : CHLO_BroadcastOp<"broadcast_multiply", StableHLO_Tensor, "product", [Commutative]>;
def CHLO_BroadcastNextAfterOp
    : CHLO_BroadcastOp<"broadcast_next_after", StableHLO_Tensor,
                       "the number that follows lhs in the direction of rhs">;
def CHLO_BroadcastOrOp
    : CHLO_BroadcastOp<"broadcast_or", StableHLO_BoolOrIntTensor, "logical or bitwise or", [Commutative]>;
def CHLO_BroadcastPolygammaOp
    : CHLO_BroadcastOp<"broadcast_polygamma", StableHLO_Tensor, "derivative lhs of digamma at rhs">;
def CHLO_BroadcastPowOp : CHLO_BroadcastOp<"broadcast_power", StableHLO_Tensor, "lhs to the power of rhs">;
def CHLO_BroadcastRemOp
    : CHLO_BroadcastOp<"broadcast_remainder", StableHLO_Tensor, "remainder, with the sign of lhs">;
def CHLO_BroadcastShiftLeftOp : CHLO_BroadcastOp<"broadcast_shift_left", StableHLO_Tensor, "left shift">;
def CHLO_BroadcastShiftRightArithmeticOp
    : CHLO_BroadcastOp<"broadcast_shift_right_arithmetic", StableHLO_Tensor, "right shift that copies the sign">;
def CHLO_BroadcastShiftRightLogicalOp
    : CHLO_BroadcastOp<"broadcast_shift_right_logical", StableHLO_Tensor, "right shift that inserts zeros">;
def CHLO_BroadcastSubOp : CHLO_BroadcastOp<"broadcast_subtract", StableHLO_Tensor, "difference">;
def CHLO_BroadcastXorOp : CHLO_BroadcastOp<"broadcast_xor", StableHLO_BoolOrIntTensor,
                                           "logical or bitwise exclusive or", [Commutative]>;
def CHLO_BroadcastZetaOp
    : CHLO_BroadcastOp<"broadcast_zeta", StableHLO_FloatTensor, "Hurwitz zeta function of lhs at rhs">;

def CHLO_BroadcastComplexOp
    : CHLO_BroadcastOpBase<"broadcast_complex", StableHLO_FloatTensor, StableHLO_TensorOf<[StableHLO_Complex]>,
                           "complex number with real part lhs and imaginary part rhs",
                           [StableHLO_InfersTypes]>;

def CHLO_BroadcastCompareOp
    : CHLO_BroadcastOpBase<"broadcast_compare", StableHLO_Tensor, StableHLO_BoolTensor, "comparison",
                           [StableHLO_InfersTypes]> {
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs,
    OptionalAttr<DenseI64ArrayAttr>:$broadcast_dimensions,
    CHLO_ComparisonDirectionAttr:$comparison_direction, OptionalAttr<CHLO_ComparisonTypeAttr>:$compare_type);
}

def CHLO_BroadcastSelectOp : CHLO_Op<"broadcast_select", [Pure, StableHLO_InfersTypes]> {
  let summary = "on_true where pred holds, on_false elsewhere";
  let arguments = (ins StableHLO_BoolTensor:$pred, StableHLO_Tensor:$on_true, StableHLO_Tensor:$on_false);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $pred `,` $on_true `,` $on_false attr-dict `:`
    `(` type($pred) `,` type($on_true) `,` type($on_false) `)` `->` type(results)
  }];
}

#endif
