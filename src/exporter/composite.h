// Composites: ops of the program that are kept whole, as private functions called by stablehlo.composite.
#pragma once

#include "exporter/symbol_table.h"
#include "lowering/op_table.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace torchere::exporter {

/// Fails on an unknown name, with the list of valid ones.
Status checkComposites(const std::set<std::string> &names);

struct CompositeCall {
  std::string_view name;
  mlir::StringAttr function;
  llvm::ArrayRef<mlir::NamedAttribute> attributes;
  int32_t version = 0;
};

/// Creates a stablehlo.composite at the insertion point of `cx`.
mlir::Operation *createComposite(lowering::Context &cx, const CompositeCall &call, mlir::ValueRange operands,
                                 mlir::TypeRange results);

class Composites {
public:
  /// `names` are as users pass them: "layer_norm" (all variants of the op), "aten.native_layer_norm" (one).
  Composites(mlir::ModuleOp module, const std::set<std::string> &names) : module(module), names(names) {}

  bool wants(const lowering::OpTable::Row &row) const;

  /// Creates a composite at the insertion point of `cx`; its function contains the row's lowering. Calls with
  /// identical functions share one. The operands are the tensor arguments that are present, in the schema's
  /// order, followed by sizes that the function needs and cannot read from them.
  Result<lowering::Values> lower(const lowering::OpTable::Row &row, lowering::Context &cx,
                                 SymbolTable &symbols, std::vector<lowering::GivenArgument> arguments,
                                 const std::vector<lowering::TensorType> &results);

  /// A name that no function of the module has: `base`, "base_1", ...
  std::string nextName(const std::string &base);
  /// The name of the next function of a composite that the user has marked: "name.impl", "name.impl_0", ...
  std::string nextMarkedName(const std::string &composite);
  /// Where functions are created.
  mlir::ModuleOp target() const { return module; }

private:
  struct Function {
    mlir::StringAttr name;
    llvm::SmallVector<mlir::Type> results;
    std::vector<bool> isGiven;   ///< which of the op's results the function returns
    std::vector<uint32_t> sizes; ///< expressions that it takes as arguments after the tensors
  };
  struct Call;

  Result<Function> build(const Call &call, lowering::Context &cx, SymbolTable &symbols);

  mlir::ModuleOp module;
  const std::set<std::string> &names;
  std::map<std::string, Function> functions; ///< by Call::key()
  std::map<std::string, size_t> used; ///< the number of functions with a name, not counting numeric suffixes
};

} // namespace torchere::exporter
