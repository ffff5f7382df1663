// Upgrades a portable op of any version, as read from an artifact, to the current StableHLO op.
#pragma once

#include "vhlo/container.h"
#include "vhlo/op_table.h"

#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/Value.h"

namespace torchere::vhlo {

/// The names of an artifact's ops, looked up once each.
class OpNames {
public:
  struct Name {
    const OpVersion *version = nullptr; ///< null: builtin.module
  };

  OpNames(mlir::MLIRContext *context, const Container &container);

  /// An error for an op that is none of StableHLO's, or of a version that we do not know.
  Result<const Name *> at(size_t index, std::string_view artifact);

private:
  const Container &container;
  std::vector<std::optional<Name>> names;
};

struct PortableOp {
  PortableOp(mlir::Location location, const OpNames::Name &name) : location(location), name(name) {}

  /// The op's own attributes, in the version's order.
  llvm::MutableArrayRef<mlir::Attribute> attributes() {
    return {own.data(), name.version ? name.version->attributes.size() : 0};
  }
  /// One of the op's own, or of the others.
  void setAttribute(mlir::StringAttr attribute, mlir::Attribute value);

  mlir::Location location;
  const OpNames::Name &name;
  std::array<mlir::Attribute, maximumAttributes> own{};
  mlir::NamedAttrList others;
  llvm::SmallVector<mlir::Type, 1> resultTypes;
  llvm::SmallVector<mlir::Value, 4> operands;
  size_t regionCount = 0;
};

/// An op with empty regions, in no block. `parent` is the op that it will be in, or null.
Result<mlir::Operation *> upgrade(mlir::MLIRContext *context, PortableOp &op, mlir::Operation *parent,
                                  std::string_view artifact);

} // namespace torchere::vhlo
