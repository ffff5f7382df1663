// Composites: ops of the program that are wanted whole, as private functions that stablehlo.composite calls.
#pragma once

#include "exporter/symbol_table.h"
#include "lowering/op_table.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace torchere::exporter {

/// Fails on a name that no composite has, with the list of those that there are.
Status checkComposites(const std::set<std::string> &names);

class Composites {
public:
  /// `names` are as users give them: "layer_norm" (all spellings of the op), "aten.native_layer_norm" (one).
  Composites(mlir::ModuleOp module, const std::set<std::string> &names) : module(module), names(names) {}

  bool wants(const lowering::OpTable::Row &row) const;

  /// A composite at the place where `cx` builds, whose function is what the row lowers to. Calls that make
  /// the same function share it. The tensors that are given are its operands, in the schema's order; sizes
  /// that the function needs and cannot read from these follow.
  Result<lowering::Values> lower(const lowering::OpTable::Row &row, lowering::Context &cx,
                                 SymbolTable &symbols, std::vector<lowering::GivenArgument> arguments,
                                 const std::vector<lowering::TensorType> &results);

private:
  struct Function {
    mlir::StringAttr name;
    llvm::SmallVector<mlir::Type> results;
    std::vector<bool> isGiven;   ///< of the op's results, which the function returns
    std::vector<uint32_t> sizes; ///< expressions whose values it takes after the tensors
  };
  struct Call;

  Result<Function> build(const Call &call, lowering::Context &cx, SymbolTable &symbols);
  std::string nextName(const std::string &base);

  mlir::ModuleOp module;
  const std::set<std::string> &names;
  std::map<std::string, Function> functions; ///< by what they are made from
  std::map<std::string, size_t> used;        ///< how many functions have a name, numbers aside
};

} // namespace torchere::exporter
