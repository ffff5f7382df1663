// FunctionBuilder: lowers the graph of a program into the body of @main.
#pragma once

#include "exporter/signature.h"
#include "exporter/symbol_table.h"
#include "lowering/op_table.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace torchere::exporter {

class FunctionBuilder {
public:
  FunctionBuilder(const program::Program &program, const Options &options, SignaturePlan &plan,
                  mlir::ModuleOp module);

  /// Builds the function, then leaves out the arguments that nothing reads; the plan's entry point says
  /// which.
  Status build(const std::vector<bool> &live);

private:
  void createFunction();
  Status bindInputs(const std::vector<bool> &live);
  Status lowerNode(const program::Node &node, lowering::Argument &result);
  Result<lowering::Values> lowerCall(const program::Node &node, lowering::Context &cx);
  Result<lowering::Argument> getItem(const program::Node &node) const;
  Result<std::vector<lowering::TensorType>> resultTypes(const program::Node &node) const;
  Result<lowering::Argument> toLowering(const program::Argument &argument, const program::Node &node) const;
  lowering::TensorType toLowering(const program::TensorType &type) const;
  Status checkSizes(std::span<const program::SymInt> shape) const;
  lowering::Dim toDim(program::SymInt size) const;
  Status createReturn();
  /// Says of each int input whether shapes depend on it.
  void markIntegersInShapes();
  void dropUnusedArguments();
  void eraseDeadOps();

  const program::Program &program;
  const Options &options;
  SignaturePlan &plan;
  mlir::ModuleOp module;
  mlir::OpBuilder builder;
  mlir::func::FuncOp function;
  lowering::FunctionState state;
  std::unique_ptr<SymbolTable> symbols;
  std::vector<lowering::Argument> values; ///< of each node
};

} // namespace torchere::exporter
