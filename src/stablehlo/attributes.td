// Attributes of StableHLO with parameters of their own.
#ifndef TORCHERE_STABLEHLO_ATTRIBUTES
#define TORCHERE_STABLEHLO_ATTRIBUTES

include "attribute_base.td"
include "distribution_attributes.td"
include "enums.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/TensorEncoding.td"

def StableHLO_DotDimensionNumbersAttr : StableHLO_Attr<"DotDimensionNumbers", "dot"> {
  let summary = "roles of the dimensions in dot_general";
  let parameters = (ins
    StableHLO_Dims:$lhsBatchingDimensions,
    StableHLO_Dims:$rhsBatchingDimensions,
    StableHLO_Dims:$lhsContractingDimensions,
    StableHLO_Dims:$rhsContractingDimensions);
}

def StableHLO_DotAlgorithmAttr : StableHLO_Attr<"DotAlgorithm", "dot_algorithm"> {
  let summary = "algorithm by which dot_general computes";
  let parameters = (ins
    "::mlir::Type":$lhsPrecisionType,
    "::mlir::Type":$rhsPrecisionType,
    "::mlir::Type":$accumulationType,
    "int64_t":$lhsComponentCount,
    "int64_t":$rhsComponentCount,
    "int64_t":$numPrimitiveOperations,
    "bool":$allowImpreciseAccumulation);
  let genVerifyDecl = 1;
}

def StableHLO_GatherDimensionNumbersAttr : StableHLO_Attr<"GatherDimensionNumbers", "gather"> {
  let summary = "roles of the dimensions in gather";
  let parameters = (ins
    StableHLO_Dims:$offsetDims,
    StableHLO_Dims:$collapsedSliceDims,
    StableHLO_Dims:$operandBatchingDims,
    StableHLO_Dims:$startIndicesBatchingDims,
    StableHLO_Dims:$startIndexMap,
    "int64_t":$indexVectorDim);
}

def StableHLO_ScatterDimensionNumbersAttr : StableHLO_Attr<"ScatterDimensionNumbers", "scatter"> {
  let summary = "roles of the dimensions in scatter";
  let parameters = (ins
    StableHLO_Dims:$updateWindowDims,
    StableHLO_Dims:$insertedWindowDims,
    StableHLO_Dims:$inputBatchingDims,
    StableHLO_Dims:$scatterIndicesBatchingDims,
    StableHLO_Dims:$scatterDimsToOperandDims,
    "int64_t":$indexVectorDim);
}

def StableHLO_ConvDimensionNumbersAttr : StableHLO_Attr<"ConvDimensionNumbers", "conv"> {
  let summary = "roles of the dimensions in convolution";
  let parameters = (ins
    "int64_t":$inputBatchDimension,
    "int64_t":$inputFeatureDimension,
    StableHLO_Dims:$inputSpatialDimensions,
    "int64_t":$kernelInputFeatureDimension,
    "int64_t":$kernelOutputFeatureDimension,
    StableHLO_Dims:$kernelSpatialDimensions,
    "int64_t":$outputBatchDimension,
    "int64_t":$outputFeatureDimension,
    StableHLO_Dims:$outputSpatialDimensions);
}

def StableHLO_OutputOperandAliasAttr : StableHLO_Attr<"OutputOperandAlias", "output_operand_alias"> {
  let summary = "a custom call's output that may share an operand's memory";
  let parameters = (ins
    StableHLO_Dims:$outputTupleIndices,
    "int64_t":$operandIndex,
    StableHLO_Dims:$operandTupleIndices);
}

def StableHLO_APFloat : APFloatParameter<"tolerance"> {
  let comparator = "$_lhs.bitwiseIsEqual($_rhs)";
}

def StableHLO_ResultAccuracyAttr : StableHLO_Attr<"ResultAccuracy", "result_accuracy"> {
  let summary = "accuracy asked of an elementwise function's result";
  let parameters = (ins
    StableHLO_APFloat:$atol,
    StableHLO_APFloat:$rtol,
    "int64_t":$ulps,
    "::torchere::stablehlo::ResultAccuracyModeAttr":$mode);
  let builders = [AttrBuilder<(ins "::torchere::stablehlo::ResultAccuracyMode":$mode), [{
    return $_get($_ctxt, ::llvm::APFloat(0.0), ::llvm::APFloat(0.0), 0,
                 ::torchere::stablehlo::ResultAccuracyModeAttr::get($_ctxt, mode));
  }]>];
  let genVerifyDecl = 1;
  let constBuilderCall = "::torchere::stablehlo::ResultAccuracyAttr::get($_builder.getContext(), $0)";
}

def StableHLO_TypeExtensionsAttr
    : StableHLO_Attr<"TypeExtensions", "bounds", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "a tensor type's encoding: the greatest size of each unknown dimension";
  // One for each dimension; ShapedType::kDynamic where there is none.
  let parameters = (ins StableHLO_Dims:$bounds);
}

def StableHLO_PrecisionConfigAttr
    : OptionalAttr<TypedArrayAttrBase<StableHLO_PrecisionAttr, "precision of each operand">>;

#endif
