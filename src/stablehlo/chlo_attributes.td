// Attributes of CHLO. The enumerations are StableHLO's; only their attributes are CHLO's own.
#ifndef TORCHERE_STABLEHLO_CHLO_ATTRIBUTES
#define TORCHERE_STABLEHLO_CHLO_ATTRIBUTES

include "attributes.td"
include "chlo_dialect.td"

// Prints as #chlo<comparison_direction LT>.
class CHLO_EnumAttr<EnumAttrInfo info, string mnemonic> : EnumAttr<CHLO_Dialect, info, mnemonic> {
  let cppNamespace = "::torchere::chlo";
}

def CHLO_ComparisonDirectionAttr : CHLO_EnumAttr<StableHLO_ComparisonDirection, "comparison_direction">;
def CHLO_ComparisonTypeAttr : CHLO_EnumAttr<StableHLO_ComparisonType, "comparison_type">;
def CHLO_PrecisionAttr : CHLO_EnumAttr<StableHLO_Precision, "precision">;

def CHLO_RaggedDotDimensionNumbersAttr : AttrDef<CHLO_Dialect, "RaggedDotDimensionNumbers"> {
  let summary = "roles of the dimensions in ragged_dot";
  let mnemonic = "ragged_dot";
  let hasCustomAssemblyFormat = 1;
  let parameters = (ins
    StableHLO_Dims:$lhsBatchingDimensions,
    StableHLO_Dims:$rhsBatchingDimensions,
    StableHLO_Dims:$lhsContractingDimensions,
    StableHLO_Dims:$rhsContractingDimensions,
    StableHLO_Dims:$lhsRaggedDimensions,
    StableHLO_Dims:$rhsGroupDimensions);
}

def CHLO_PrecisionConfigAttr
    : OptionalAttr<TypedArrayAttrBase<CHLO_PrecisionAttr, "precision of each operand">>;

#endif
