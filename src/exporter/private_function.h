// PrivateFunction: the function of a composite while it is made.
#pragma once

#include "exporter/symbol_table.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace torchere::exporter {

/// Calls `visit` on every value in an argument of an op.
void forEachValue(const lowering::Argument &argument, llvm::function_ref<void(mlir::Value)> visit);

/// The argument with `values` in place of its own, from `next` on.
lowering::Argument withValues(const lowering::Argument &argument, mlir::ValueRange values, size_t &next);

class PrivateFunction {
public:
  /// Takes operands of these types and shapes; sizes are read from them.
  PrivateFunction(mlir::ModuleOp module, const std::string &name, mlir::Location location,
                  mlir::TypeRange operands, const std::vector<lowering::Dims> &shapes, SymbolTable &outer);

  mlir::OpBuilder &builder() { return bodyBuilder; }
  lowering::FunctionState &state() { return functionState; }
  SymbolTable &symbols() { return sizes; }
  mlir::Block &body() { return function.getBody().front(); }

  /// Removes an argument that nothing reads.
  void eraseArgument(mlir::Value argument);
  /// Ends the function.
  void finish(mlir::Location location, mlir::ValueRange results);
  mlir::StringAttr name() { return function.getSymNameAttr(); }
  mlir::TypeRange resultTypes() { return function.getResultTypes(); }
  /// Expressions that the function takes as arguments after the others: sizes that its operands do not have.
  const std::vector<uint32_t> &furtherSizes() const { return sizes.further; }

private:
  class Sizes final : public SymbolTable {
  public:
    using SymbolTable::SymbolTable;
    std::vector<uint32_t> further;

  private:
    bool isIsolated() const override { return true; }
    mlir::Value valueFromOutside(uint32_t expression) override {
      further.push_back(expression);
      return addArgument(expression);
    }
  };

  static mlir::func::FuncOp create(mlir::ModuleOp module, const std::string &name, mlir::Location location,
                                   mlir::TypeRange operands);

  mlir::func::FuncOp function;
  mlir::OpBuilder bodyBuilder;
  lowering::FunctionState functionState;
  Sizes sizes;
};

} // namespace torchere::exporter
