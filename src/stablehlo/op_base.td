// Base classes of the op definitions.
#ifndef TORCHERE_STABLEHLO_OP_BASE
#define TORCHERE_STABLEHLO_OP_BASE

include "attributes.td"
include "dialect.td"
include "types.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class StableHLO_Op<string mnemonic, list<Trait> traits = []> : Op<StableHLO_Dialect, mnemonic, traits>;

// The op computes its result types; a result may be declared more or less precise than inferred, if its
// element type is the same and its shape compatible.
def StableHLO_InfersTypes : InferTypeOpAdaptorBase<[{
  static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange declared) {
    return ::torchere::stablehlo::areCompatible(inferred, declared);
  }
}]>;

// The same, but the scales and zero points of a quantized result are its own.
def StableHLO_InfersBaselines : InferTypeOpAdaptorBase<[{
  static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange declared) {
    return ::torchere::stablehlo::haveCompatibleBaselines(inferred, declared);
  }
}]>;

// All operands and the result have one element type, scales and zero points aside, and compatible shapes; the
// result's is the most precise.
def StableHLO_CompatibleOperandsAndResultTrait : NativeOpTrait<"CompatibleOperandsAndResult", [], [{
  static ::llvm::LogicalResult inferReturnTypes(
      ::mlir::MLIRContext *, std::optional<::mlir::Location> location, ::mlir::ValueRange operands,
      ::mlir::DictionaryAttr, ::mlir::OpaqueProperties, ::mlir::RegionRange,
      ::llvm::SmallVectorImpl<::mlir::Type> &types) {
    return ::torchere::stablehlo::inferMostPreciseType(getOperationName(), location, operands, types);
  }
  static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange declared) {
    return ::torchere::stablehlo::haveCompatibleBaselines(inferred, declared);
  }
}]> {
  let cppNamespace = "::torchere::stablehlo";
}
def StableHLO_CompatibleOperandsAndResult
    : TraitList<[StableHLO_CompatibleOperandsAndResultTrait, InferTypeOpInterface]>;

// A broken constraint of the specification is reported with its number: `'stablehlo.pad' op (C2) ...`.
class StableHLO_VerifiedOp<string mnemonic, list<Trait> traits = []> : StableHLO_Op<mnemonic, traits> {
  let hasVerifier = 1;
}

#endif
