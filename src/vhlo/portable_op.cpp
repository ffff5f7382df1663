// The model behind every portable op: properties that are an array of attributes, in bytecode's order.
//
// One class serves all ops. Declaring them in ODS would be 145 generated classes, a minute to compile.
#include "vhlo/dialect.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

namespace torchere::vhlo {
namespace {

const OpVersion &versionOf(OperationName name) {
  return *static_cast<const OpVersion *>(name.getTypeID().getAsOpaquePointer());
}

MutableArrayRef<Attribute> propertiesOf(const OpVersion &version, OpaqueProperties storage) {
  return {storage.as<Attribute *>(), version.attributes.size()};
}

struct WriteModel : public BytecodeOpInterface::Concept {
  using Interface = BytecodeOpInterface;
  WriteModel() : Concept{readProperties, writeProperties} {}

  static LogicalResult readProperties(DialectBytecodeReader &reader, OperationState &) {
    return reader.emitError("artifacts are not read through the dialect vhlo"), failure();
  }
  static void writeProperties(const Concept *, Operation *op, DialectBytecodeWriter &writer) {
    for (Attribute attribute : propertiesOf(versionOf(op->getName()), op->getPropertiesStorage()))
      writer.writeAttribute(attribute);
  }
};

class PortableOpModel : public OperationName::Impl {
public:
  PortableOpModel(PortableDialect &dialect, const OpVersion &version)
      // The type's id is the version's address, so that an op's row can be found.
      : Impl("vhlo." + version.name, &dialect, TypeID::getFromOpaquePointer(&version), interfaces()),
        version(version) {}

  LogicalResult foldHook(Operation *, ArrayRef<Attribute>, SmallVectorImpl<OpFoldResult> &) final {
    return failure();
  }
  void getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) final {}
  bool hasTrait(TypeID trait) final {
    return version.row->name == "return" && trait == TypeID::get<OpTrait::IsTerminator>();
  }
  OperationName::ParseAssemblyFn getParseAssemblyFn() final {
    return [](OpAsmParser &parser, OperationState &) -> ParseResult {
      return parser.emitError(parser.getNameLoc(), "portable ops have no text");
    };
  }
  void populateDefaultAttrs(const OperationName &, NamedAttrList &) final {}
  void printAssembly(Operation *op, OpAsmPrinter &printer, StringRef) final { printer.printGenericOp(op); }
  LogicalResult verifyInvariants(Operation *) final { return success(); }
  LogicalResult verifyRegionInvariants(Operation *) final { return success(); }

  std::optional<Attribute> getInherentAttr(Operation *op, StringRef name) final {
    for (auto [known, value] : llvm::zip(version.attributes, properties(op)))
      if (name == StringRef(known))
        return value;
    return std::nullopt;
  }
  void setInherentAttr(Operation *op, StringAttr name, Attribute value) final {
    for (auto [known, slot] : llvm::zip(version.attributes, properties(op)))
      if (name.getValue() == StringRef(known))
        slot = value;
  }
  void populateInherentAttrs(Operation *op, NamedAttrList &attributes) final {
    for (auto [known, value] : llvm::zip(version.attributes, properties(op)))
      attributes.append(StringRef(known), value);
  }
  LogicalResult verifyInherentAttrs(OperationName, NamedAttrList &,
                                    function_ref<InFlightDiagnostic()>) final {
    return success();
  }

  int getOpPropertyByteSize() final { return version.attributes.size() * sizeof(Attribute); }
  void initProperties(OperationName, OpaqueProperties storage, OpaqueProperties init) final {
    MutableArrayRef<Attribute> slots = propertiesOf(version, storage);
    if (init)
      std::uninitialized_copy_n(init.as<Attribute *>(), slots.size(), slots.begin());
    else
      std::uninitialized_fill(slots.begin(), slots.end(), Attribute());
  }
  void deleteProperties(OpaqueProperties) final {}
  void populateDefaultProperties(OperationName, OpaqueProperties) final {}
  LogicalResult setPropertiesFromAttr(OperationName, OpaqueProperties, Attribute,
                                      function_ref<InFlightDiagnostic()> emitError) final {
    return emitError() << "portable ops are made from properties";
  }
  Attribute getPropertiesAsAttr(Operation *op) final {
    NamedAttrList attributes;
    populateInherentAttrs(op, attributes);
    return attributes.getDictionary(op->getContext());
  }
  void copyProperties(OpaqueProperties to, OpaqueProperties from) final {
    llvm::copy(propertiesOf(version, from), propertiesOf(version, to).begin());
  }
  bool compareProperties(OpaqueProperties a, OpaqueProperties b) final {
    return llvm::equal(propertiesOf(version, a), propertiesOf(version, b));
  }
  llvm::hash_code hashProperties(OpaqueProperties storage) final {
    return llvm::hash_combine_range(propertiesOf(version, storage));
  }

private:
  static detail::InterfaceMap interfaces() {
    detail::InterfaceMap map;
    map.insertModels<WriteModel>();
    return map;
  }
  MutableArrayRef<Attribute> properties(Operation *op) const {
    return propertiesOf(version, op->getPropertiesStorage());
  }

  const OpVersion &version;
};

} // namespace

void registerPortableOps(PortableDialect &dialect) {
  for (const auto &version : OpTable::instance().versions())
    RegisteredOperationName::insert(std::make_unique<PortableOpModel>(dialect, *version), {});
}

} // namespace torchere::vhlo
