// The StableHLO dialect itself; its types, attributes and ops are in the other .td files of this folder.
#ifndef TORCHERE_STABLEHLO_DIALECT
#define TORCHERE_STABLEHLO_DIALECT

include "mlir/IR/OpBase.td"

def StableHLO_Dialect : Dialect {
  let name = "stablehlo";
  let cppNamespace = "::torchere::stablehlo";
  let summary = "The portable operation set for machine learning programs that the StableHLO specification defines.";
  let dependentDialects = ["::mlir::quant::QuantDialect"];
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser, ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute, ::mlir::DialectAsmPrinter &printer) const override;
    // addOperations is protected, and each group of ops registers its own.
    template <class... Ops> void registerOps() { addOperations<Ops...>(); }
  }];
}

#endif
