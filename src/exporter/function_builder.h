// FunctionBuilder: lowers a program into the function @main.
#pragma once

#include "exporter/graph_lowerer.h"
#include "exporter/number_arguments.h"
#include "exporter/signature.h"
#include "exporter/symbol_table.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace torchere::exporter {

class FunctionBuilder {
public:
  FunctionBuilder(const program::Program &program, const Options &options, SignaturePlan &plan,
                  mlir::ModuleOp module);

  /// Builds the function, then removes arguments that nothing reads; the plan's entry point lists the
  /// remaining ones.
  Status build();

private:
  void createFunction();
  void bindInputs(GraphLowerer &lowerer);
  Status checkInputs(const std::vector<bool> &live) const;
  void assertShapes();
  Status createReturn(const GraphLowerer &lowerer, const RunTimeChecks &checks);
  /// The generator's next state, as the function's first result; nothing when no random numbers are drawn.
  void returnGenerator(lowering::Context &cx, lowering::Values &results);
  /// What the checks found, as the function's last result; nothing where there are none.
  void returnStatus(lowering::Context &cx, const RunTimeChecks &checks, lowering::Values &results);
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
  mlir::Value generator; ///< the argument that is its state
  lowering::FunctionState state;
  std::unique_ptr<SymbolTable> symbols;
  std::unique_ptr<NumberArguments> numbers; ///< null where Python numbers are constants
};

} // namespace torchere::exporter
