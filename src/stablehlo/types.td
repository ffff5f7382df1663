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
def StableHLO_Index : Type<CPred<"$_self.isIndex()">, "index">;
def StableHLO_Int32Or64 : Type<CPred<"$_self.isSignlessInteger(32) || $_self.isSignlessInteger(64)">,
                               "32/64-bit signed integer">;

class StableHLO_TensorOf<list<Type> types> : RankedTensorOf<types>;
def StableHLO_Tensor
    : StableHLO_TensorOf<[StableHLO_Bool, StableHLO_Int, StableHLO_Float, StableHLO_Complex]>;
def StableHLO_StaticTensor
    : StaticShapeTensorOf<[StableHLO_Bool, StableHLO_Int, StableHLO_Float, StableHLO_Complex]>;
def StableHLO_BoolTensor : StableHLO_TensorOf<[StableHLO_Bool]>;
def StableHLO_BoolOrIntTensor : StableHLO_TensorOf<[StableHLO_Bool, StableHLO_Int]>;
def StableHLO_IntTensor : StableHLO_TensorOf<[StableHLO_Int]>;
def StableHLO_FloatTensor : StableHLO_TensorOf<[StableHLO_Float]>;
def StableHLO_FloatOrComplexTensor : StableHLO_TensorOf<[StableHLO_Float, StableHLO_Complex]>;
def StableHLO_IntFloatOrComplexTensor
    : StableHLO_TensorOf<[StableHLO_Int, StableHLO_Float, StableHLO_Complex]>;
def StableHLO_SIntFloatOrComplexTensor
    : StableHLO_TensorOf<[StableHLO_SInt, StableHLO_Float, StableHLO_Complex]>;
def StableHLO_IotaTensor : StableHLO_TensorOf<[StableHLO_Int, StableHLO_Float, StableHLO_Complex]>;

def StableHLO_IntOrFloatTensor : StableHLO_TensorOf<[StableHLO_Int, StableHLO_Float]>;
def StableHLO_StaticIntOrFloatTensor : StaticShapeTensorOf<[StableHLO_Int, StableHLO_Float]>;
def StableHLO_BoolIntOrFloatTensor : StableHLO_TensorOf<[StableHLO_Bool, StableHLO_Int, StableHLO_Float]>;
def StableHLO_Float32Or64Tensor : StableHLO_TensorOf<[F32, F64]>;
def StableHLO_ComplexTensor : StableHLO_TensorOf<[StableHLO_Complex]>;

// One element for each feature of a batch normalization.
def StableHLO_FloatVector : 1DTensorOf<[StableHLO_Float]>;

def StableHLO_ScalarTensor
    : 0DTensorOf<[StableHLO_Bool, StableHLO_Int, StableHLO_Float, StableHLO_Complex]>;
def StableHLO_ScalarIntTensor : 0DTensorOf<[StableHLO_Int]>;
def StableHLO_ScalarBoolTensor : 0DTensorOf<[StableHLO_Bool]>;
def StableHLO_ScalarInt32Tensor : 0DTensorOf<[I32]>;
def StableHLO_ScalarBoolIntOrFloatTensor : 0DTensorOf<[StableHLO_Bool, StableHLO_Int, StableHLO_Float]>;
def StableHLO_DimensionSize : 0DTensorOf<[StableHLO_Int32Or64]>;

// Values that need not be tensors.
def StableHLO_Buffer : MemRefOf<[StableHLO_Bool, StableHLO_Int, StableHLO_Float, StableHLO_Complex]>;
def StableHLO_Tuple : NestedTupleOf<[StableHLO_Tensor, StableHLO_Buffer, StableHLO_Token]>;
def StableHLO_TensorOrToken : AnyTypeOf<[StableHLO_Tensor, StableHLO_Token]>;
def StableHLO_TensorTokenOrBuffer : AnyTypeOf<[StableHLO_Tensor, StableHLO_Token, StableHLO_Buffer]>;
def StableHLO_TensorTokenBufferOrTuple
    : AnyTypeOf<[StableHLO_Tensor, StableHLO_Token, StableHLO_Buffer, StableHLO_Tuple]>;
// Custom calls alone take tensors of unknown rank.
def StableHLO_CustomCallValue
    : AnyTypeOf<[TensorOf<[StableHLO_Bool, StableHLO_Int, StableHLO_Float, StableHLO_Complex]>, StableHLO_Token,
                 StableHLO_Buffer, StableHLO_Tuple]>;

// A shape, or another vector with one element a dimension, computed by the program.
def StableHLO_DimensionTensor
    : ConfinedType<1DTensorOf<[StableHLO_Index, StableHLO_Int]>, [HasStaticShapePred],
                   "statically shaped 1-dimensional tensor of index or integer values">;

#endif
