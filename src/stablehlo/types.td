// Type constraints of StableHLO's operands and results, named as in the specification's section "Types".
#ifndef TORCHERE_STABLEHLO_TYPES
#define TORCHERE_STABLEHLO_TYPES

include "value_types.td"
include "mlir/IR/OpBase.td"

// Element types. The predicates are C++ functions (element_types.h): lists of types expanded in place of them
// would be generated anew for every constraint.
def StableHLO_Bool : Type<CPred<"::torchere::stablehlo::isBoolean($_self)">, "boolean">;
def StableHLO_SInt : Type<CPred<"::torchere::stablehlo::isSignedInteger($_self)">, "signed integer">;
def StableHLO_Int : Type<CPred<"::torchere::stablehlo::isInteger($_self)">, "integer">;
def StableHLO_Float : Type<CPred<"::torchere::stablehlo::isFloat($_self)">, "floating-point">;
def StableHLO_Complex : Type<CPred<"::torchere::stablehlo::isComplex($_self)">, "complex">;
def StableHLO_PerTensorQuantized
    : Type<CPred<"::torchere::stablehlo::isPerTensorQuantized($_self)">, "per-tensor quantized">;
def StableHLO_PerAxisQuantized
    : Type<CPred<"::torchere::stablehlo::isPerAxisQuantized($_self)">, "per-axis quantized">;
def StableHLO_Index : Type<CPred<"$_self.isIndex()">, "index">;
def StableHLO_Int32Or64 : Type<CPred<"$_self.isSignlessInteger(32) || $_self.isSignlessInteger(64)">,
                               "32/64-bit signed integer">;

class StableHLO_TensorOf<list<Type> types> : RankedTensorOf<types>;
defvar StableHLO_Elements = [StableHLO_Bool, StableHLO_Int, StableHLO_Float, StableHLO_Complex];
defvar StableHLO_QuantizableElements = StableHLO_Elements # [StableHLO_PerTensorQuantized];
def StableHLO_Tensor : StableHLO_TensorOf<StableHLO_QuantizableElements>;
def StableHLO_UnquantizedTensor : StableHLO_TensorOf<StableHLO_Elements>;

// Per-axis quantized tensors hold a scale for each index of their quantized dimension.
class StableHLO_PerAxisTensorOf<list<Type> types>
    : RankedTensorOf<types # [StableHLO_PerAxisQuantized],
                     [CPred<"::torchere::stablehlo::hasScaleOfEachIndex($_self)">]>;
def StableHLO_PerAxisTensor : StableHLO_PerAxisTensorOf<StableHLO_QuantizableElements>;
def StableHLO_QuantizedTensor : StableHLO_PerAxisTensorOf<[StableHLO_PerTensorQuantized]>;
def StableHLO_StaticTensor
    : Type<And<[StableHLO_PerAxisTensor.predicate, HasStaticShapePred]>,
           "statically shaped tensor of boolean or integer or floating-point or complex or quantized values",
           "::mlir::RankedTensorType">;
def StableHLO_StaticOrBoundedTensor
    : Type<And<[StableHLO_PerAxisTensor.predicate,
                CPred<"::torchere::stablehlo::isStaticOrBounded($_self)">]>,
           "statically shaped tensor, or one with a single unknown dimension that has a bound, of boolean or "
           "integer or floating-point or complex or quantized values",
           "::mlir::RankedTensorType">;
def StableHLO_BoolTensor : StableHLO_TensorOf<[StableHLO_Bool]>;
def StableHLO_BoolOrIntTensor : StableHLO_TensorOf<[StableHLO_Bool, StableHLO_Int]>;
def StableHLO_IntTensor : StableHLO_TensorOf<[StableHLO_Int]>;
def StableHLO_FloatTensor : StableHLO_TensorOf<[StableHLO_Float]>;
def StableHLO_FloatOrComplexTensor : StableHLO_TensorOf<[StableHLO_Float, StableHLO_Complex]>;
def StableHLO_IntFloatOrComplexTensor
    : StableHLO_TensorOf<[StableHLO_Int, StableHLO_Float, StableHLO_Complex]>;
def StableHLO_SIntFloatOrComplexTensor
    : StableHLO_TensorOf<[StableHLO_SInt, StableHLO_Float, StableHLO_Complex]>;
defvar StableHLO_Numbers
    = [StableHLO_Int, StableHLO_Float, StableHLO_Complex, StableHLO_PerTensorQuantized];
def StableHLO_NumberTensor : StableHLO_TensorOf<StableHLO_Numbers>;
def StableHLO_StaticNumberTensor : StaticShapeTensorOf<StableHLO_Numbers>;
def StableHLO_SignedNumberTensor
    : StableHLO_TensorOf<[StableHLO_SInt, StableHLO_Float, StableHLO_Complex, StableHLO_PerTensorQuantized]>;
def StableHLO_RealFunctionTensor : StableHLO_TensorOf<[StableHLO_Float, StableHLO_PerTensorQuantized]>;
def StableHLO_FunctionTensor
    : StableHLO_TensorOf<[StableHLO_Float, StableHLO_Complex, StableHLO_PerTensorQuantized]>;
def StableHLO_StaticTensorOrToken : AnyTypeOf<[StableHLO_StaticTensor, StableHLO_Token]>;

def StableHLO_IntOrFloatTensor : StableHLO_TensorOf<[StableHLO_Int, StableHLO_Float]>;
def StableHLO_StaticIntOrFloatTensor : StaticShapeTensorOf<[StableHLO_Int, StableHLO_Float]>;
def StableHLO_BoolIntOrFloatTensor : StableHLO_TensorOf<[StableHLO_Bool, StableHLO_Int, StableHLO_Float]>;
def StableHLO_Float32Or64Tensor : StableHLO_TensorOf<[F32, F64]>;
def StableHLO_ComplexTensor : StableHLO_TensorOf<[StableHLO_Complex]>;

// One element for each feature of a batch normalization.
def StableHLO_FloatVector : 1DTensorOf<[StableHLO_Float]>;

def StableHLO_ScalarTensor : 0DTensorOf<StableHLO_QuantizableElements>;
def StableHLO_ScalarIntTensor : 0DTensorOf<[StableHLO_Int]>;
def StableHLO_ScalarBoolTensor : 0DTensorOf<[StableHLO_Bool]>;
def StableHLO_ScalarInt32Tensor : 0DTensorOf<[I32]>;
def StableHLO_ScalarBoolIntOrFloatTensor : 0DTensorOf<[StableHLO_Bool, StableHLO_Int, StableHLO_Float]>;
def StableHLO_DimensionSize : 0DTensorOf<[StableHLO_Int32Or64]>;

// Values that need not be tensors.
def StableHLO_Buffer : MemRefOf<[StableHLO_Bool, StableHLO_Int, StableHLO_Float, StableHLO_Complex]>;
def StableHLO_Tuple : NestedTupleOf<[StableHLO_PerAxisTensor, StableHLO_Buffer, StableHLO_Token]>;
def StableHLO_TensorOrToken : AnyTypeOf<[StableHLO_Tensor, StableHLO_Token]>;
def StableHLO_PerAxisTensorOrToken : AnyTypeOf<[StableHLO_PerAxisTensor, StableHLO_Token]>;
def StableHLO_TensorTokenOrBuffer : AnyTypeOf<[StableHLO_PerAxisTensor, StableHLO_Token, StableHLO_Buffer]>;
def StableHLO_TensorTokenBufferOrTuple
    : AnyTypeOf<[StableHLO_PerAxisTensor, StableHLO_Token, StableHLO_Buffer, StableHLO_Tuple]>;
// Custom calls alone take tensors of unknown rank, and futures.
def StableHLO_CustomCallValue
    : AnyTypeOf<[TensorOf<StableHLO_QuantizableElements # [StableHLO_PerAxisQuantized]>, StableHLO_Token,
                 StableHLO_Future, StableHLO_Buffer, StableHLO_Tuple]>;

// A shape, or other numbers for each dimension, computed by the program.
class StableHLO_StaticallyShaped<Type type, string summary>
    : ConfinedType<type, [HasStaticShapePred], "statically shaped " # summary, type.cppType>;
def StableHLO_DimensionTensor
    : StableHLO_StaticallyShaped<1DTensorOf<[StableHLO_Index, StableHLO_Int]>,
                                 "1-dimensional tensor of index or integer values">;
def StableHLO_IntVector
    : StableHLO_StaticallyShaped<1DTensorOf<[StableHLO_Int]>, "1-dimensional tensor of integer values">;
def StableHLO_IntMatrix
    : StableHLO_StaticallyShaped<2DTensorOf<[StableHLO_Int]>, "2-dimensional tensor of integer values">;

#endif
