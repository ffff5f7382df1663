// The CHLO dialect itself: ops that frontends emit and that are expanded to StableHLO before a program is saved.
#ifndef TORCHERE_STABLEHLO_CHLO_DIALECT
#define TORCHERE_STABLEHLO_CHLO_DIALECT

include "mlir/IR/OpBase.td"

def CHLO_Dialect : Dialect {
  let name = "chlo";
  let cppNamespace = "::torchere::chlo";
  let summary = "Ops that expand to several of StableHLO's: implicit broadcasting, special functions, top_k.";
  let dependentDialects = ["::torchere::stablehlo::StableHLODialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    // addOperations is protected, and each group of ops registers its own.
    template <class... Ops> void registerOps() { addOperations<Ops...>(); }
  }];
}

#endif
