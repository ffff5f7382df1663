// Base class of the attributes with parameters of their own.
#ifndef TORCHERE_STABLEHLO_ATTRIBUTE_BASE
#define TORCHERE_STABLEHLO_ATTRIBUTE_BASE

include "dialect.td"
include "mlir/IR/AttrTypeBase.td"

class StableHLO_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<StableHLO_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_Dims : ArrayRefParameter<"int64_t", "dimensions">;

#endif
