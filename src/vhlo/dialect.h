// The dialect `vhlo`, in which an artifact's module is written: portable types, attributes and ops.
//
// A portable type or attribute wraps StableHLO's own, to be written with a code from the
// tables; the op table's versions are registered as ops whose properties are an array of attributes in
// bytecode's order. MLIR's bytecode writer does the rest. The dialect is only for writing: its text is for
// debugging, and artifacts are read without it (module_reader.h).
#pragma once

#include "vhlo/attribute_codes.h"
#include "vhlo/op_table.h"

#include "mlir/IR/Dialect.h"
#include "mlir/IR/OperationSupport.h"

#include <array>

namespace torchere::vhlo {

struct PortableTypeStorage;
struct PortableAttrStorage;

/// A type of a value, or within another type, as the artifact has it.
class PortableType : public mlir::Type::TypeBase<PortableType, mlir::Type, PortableTypeStorage> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "vhlo.type";

  static PortableType get(mlir::Type payload);
  mlir::Type payload() const;
};

/// An attribute as the artifact has it; its payload is in portable form (portable_form.h).
class PortableAttr : public mlir::Attribute::AttrBase<PortableAttr, mlir::Attribute, PortableAttrStorage> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "vhlo.attr";

  static PortableAttr get(AttributeCode code, mlir::Attribute payload);
  /// The attribute in portable form, by the code that its class has.
  static PortableAttr get(mlir::Attribute payload);
  AttributeCode code() const;
  mlir::Attribute payload() const;
};

/// The properties of an op that is being made: its version's attributes, in the version's order.
struct PortableProperties {
  std::array<mlir::Attribute, maximumAttributes> attributes{};
};

class PortableDialect : public mlir::Dialect {
public:
  explicit PortableDialect(mlir::MLIRContext *context);
  static constexpr llvm::StringLiteral getDialectNamespace() { return "vhlo"; }

  /// The code of a type that holds no others.
  std::optional<uint64_t> scalarCode(mlir::Type type) const;
  mlir::OperationName opName(const OpVersion &version) const { return names.at(&version); }

  void printType(mlir::Type type, mlir::DialectAsmPrinter &printer) const override;
  void printAttribute(mlir::Attribute attribute, mlir::DialectAsmPrinter &printer) const override;

private:
  llvm::DenseMap<mlir::Type, uint64_t> scalars;
  llvm::DenseMap<const OpVersion *, mlir::OperationName> names;
};

/// Registers every version of every op.
void registerPortableOps(PortableDialect &dialect);
/// Lets MLIR's writer write portable types and attributes.
void addPortableEncoding(PortableDialect &dialect);

} // namespace torchere::vhlo

MLIR_DECLARE_EXPLICIT_TYPE_ID(torchere::vhlo::PortableType)
MLIR_DECLARE_EXPLICIT_TYPE_ID(torchere::vhlo::PortableAttr)
MLIR_DECLARE_EXPLICIT_TYPE_ID(torchere::vhlo::PortableDialect)
MLIR_DECLARE_EXPLICIT_TYPE_ID(torchere::vhlo::PortableProperties)
