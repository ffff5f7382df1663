// Evaluator: runs functions and regions, op by op.
#pragma once

#include "interpreter/evaluation_table.h"
#include "interpreter/interpreter.h"
#include "interpreter/process_grid.h"
#include "interpreter/scope.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

namespace torchere::interpreter {

class Evaluator {
public:
  Evaluator(mlir::ModuleOp module, const Options &options);
  /// An evaluator for another task of the same run, as a process of a grid.
  Evaluator(const Evaluator &other, ProcessGrid &grid, ProcessId process);

  /// Runs the function that the options select.
  Result<Values> runEntry(Values arguments);
  /// The same in the processes of a grid, by replica, then by partition, each with its own arguments. The
  /// results are concatenated in the same order.
  Result<Values> runEntryInProcesses(int64_t replicas, int64_t partitions, std::vector<Values> arguments);
  /// NotFound if the module has no function that the options could mean.
  Result<mlir::func::FuncOp> findEntry() const;
  /// NotFound if the module has no such function, or only its declaration.
  Result<mlir::func::FuncOp> findFunction(llvm::StringRef name) const;
  Result<Values> callFunction(llvm::StringRef name, Values arguments);
  /// Runs a region of one block with arguments of its types. `outer` holds the values that it captures.
  Result<Values> runRegion(mlir::Region &region, Values arguments, const Scope *outer);

  /// The evaluation of the op with this name; null if it cannot be interpreted.
  Evaluation findEvaluation(llvm::StringRef name) const { return run->table.find(name).evaluation; }
  /// A different number each time, but the same sequence in every run.
  uint64_t nextSeed() { return ++run->seed; }
  /// How often this was called for the probe.
  int64_t nextIteration(llvm::StringRef probe) { return ++run->iterations[probe]; }
  const Options &options() const { return run->options; }
  /// The grid that this process belongs to.
  ProcessGrid &grid() const { return *ownGrid; }
  ProcessId process() const { return id; }

private:
  Status evaluate(mlir::Operation &op, Scope &scope);
  EvaluationTable::Row findRow(mlir::Operation &op);
  Result<Values> compute(mlir::Operation &op, const Values &operands, const Scope &scope);

  /// State shared by all tasks of a run.
  struct Run {
    Run(mlir::ModuleOp module, const Options &options)
        : module(module), symbols(module), options(options), grid(1, 1) {}

    mlir::ModuleOp module;
    mlir::SymbolTable symbols;
    EvaluationTable table;
    Options options;
    llvm::StringMap<int64_t> iterations; ///< by probe
    uint64_t seed = 0;
    ProcessGrid grid; ///< used outside interpreter.run_parallel
  };

  std::shared_ptr<Run> run;
  ProcessGrid *ownGrid;
  ProcessId id;
  llvm::DenseMap<mlir::OperationName, EvaluationTable::Row> found; ///< cache of lookups
  int depth = 0;                                                   ///< of nested regions and calls
};

} // namespace torchere::interpreter
