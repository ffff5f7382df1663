// Evaluator: runs functions and regions, op by op.
#pragma once

#include "interpreter/evaluation_table.h"
#include "interpreter/interpreter.h"
#include "interpreter/scope.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

namespace torchere::interpreter {

class Evaluator {
public:
  Evaluator(mlir::ModuleOp module, const Options &options);

  /// Runs the function that the options name.
  Result<Values> runEntry(Values arguments);
  /// NotFound when the module has no such function.
  Result<Values> callFunction(llvm::StringRef name, Values arguments);
  /// Runs a region of one block with arguments of its types. `outer` holds what it uses from around it.
  Result<Values> runRegion(mlir::Region &region, Values arguments, const Scope *outer);

  /// Of an op by its name; null when it cannot be interpreted.
  Evaluation findEvaluation(llvm::StringRef name) const { return table.find(name); }
  /// Another number each time, the same ones in each run.
  uint64_t nextSeed() { return ++seed; }
  /// How often this was called for the probe.
  int64_t nextIteration(llvm::StringRef probe) { return ++iterations[probe]; }
  const Options &options() const { return settings; }

private:
  Result<mlir::func::FuncOp> findEntry() const;
  Status evaluate(mlir::Operation &op, Scope &scope);
  Evaluation findEvaluation(mlir::Operation &op);
  Result<Values> compute(mlir::Operation &op, const Values &operands, const Scope &scope);

  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  EvaluationTable table;
  llvm::DenseMap<mlir::OperationName, Evaluation> found; ///< rows of the table that were looked up before
  Options settings;
  llvm::StringMap<int64_t> iterations; ///< of probes
  uint64_t seed = 0;
  int depth = 0; ///< of nested regions and calls
};

} // namespace torchere::interpreter
