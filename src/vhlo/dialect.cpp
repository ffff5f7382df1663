// Portable types and attributes, and the registration of the dialect.
#include "vhlo/dialect.h"

#include "vhlo/type_codes.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

MLIR_DEFINE_EXPLICIT_TYPE_ID(torchere::vhlo::PortableType)
MLIR_DEFINE_EXPLICIT_TYPE_ID(torchere::vhlo::PortableAttr)
MLIR_DEFINE_EXPLICIT_TYPE_ID(torchere::vhlo::PortableDialect)
MLIR_DEFINE_EXPLICIT_TYPE_ID(torchere::vhlo::PortableProperties)

namespace torchere::vhlo {

struct PortableTypeStorage : public TypeStorage {
  using KeyTy = Type;

  explicit PortableTypeStorage(Type payload) : payload(payload) {}
  bool operator==(const KeyTy &key) const { return key == payload; }
  static PortableTypeStorage *construct(TypeStorageAllocator &allocator, const KeyTy &key) {
    return new (allocator.allocate<PortableTypeStorage>()) PortableTypeStorage(key);
  }

  Type payload;
};

struct PortableAttrStorage : public AttributeStorage {
  using KeyTy = std::pair<uint8_t, Attribute>;

  explicit PortableAttrStorage(const KeyTy &key) : key(key) {}
  bool operator==(const KeyTy &other) const { return key == other; }
  static llvm::hash_code hashKey(const KeyTy &key) { return llvm::hash_combine(key.first, key.second); }
  static PortableAttrStorage *construct(AttributeStorageAllocator &allocator, const KeyTy &key) {
    return new (allocator.allocate<PortableAttrStorage>()) PortableAttrStorage(key);
  }

  KeyTy key;
};

PortableType PortableType::get(Type payload) {
  return Base::get(payload.getContext(), payload);
}

Type PortableType::payload() const {
  return getImpl()->payload;
}

PortableAttr PortableAttr::get(AttributeCode code, Attribute payload) {
  return Base::get(payload.getContext(), std::pair(static_cast<uint8_t>(code), payload));
}

PortableAttr PortableAttr::get(Attribute payload) {
  auto code = codeOf(payload);
  return code ? get(*code, payload) : PortableAttr();
}

AttributeCode PortableAttr::code() const {
  return static_cast<AttributeCode>(getImpl()->key.first);
}

Attribute PortableAttr::payload() const {
  return getImpl()->key.second;
}

PortableDialect::PortableDialect(MLIRContext *context)
    : Dialect(getDialectNamespace(), context, TypeID::get<PortableDialect>()) {
  addTypes<PortableType>();
  addAttributes<PortableAttr>();
  for (const ScalarType &row : scalarTypes())
    scalars[row.get(context)] = row.code;
  registerPortableOps(*this);
  for (const auto &version : OpTable::instance().versions())
    names.try_emplace(version.get(), OperationName("vhlo." + version->name, context));
  addPortableEncoding(*this);
}

std::optional<uint64_t> PortableDialect::scalarCode(Type type) const {
  auto found = scalars.find(type);
  return found == scalars.end() ? std::nullopt : std::optional(found->second);
}

void PortableDialect::printType(Type type, DialectAsmPrinter &printer) const {
  printer << "type<" << cast<PortableType>(type).payload() << ">";
}

void PortableDialect::printAttribute(Attribute attribute, DialectAsmPrinter &printer) const {
  printer << "attr<" << cast<PortableAttr>(attribute).payload() << ">";
}

} // namespace torchere::vhlo
