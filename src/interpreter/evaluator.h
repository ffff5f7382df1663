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
  /// For another task of the run, as a process of a grid.
  Evaluator(const Evaluator &other, ProcessGrid &grid, ProcessId process);

  /// Runs the function that the options name.
  Result<Values> runEntry(Values arguments);
  /// The same in processes of a grid, by replica, then by partition: each has arguments of its own. The
  /// results are one process's after the other's.
  Result<Values> runEntryInProcesses(int64_t replicas, int64_t partitions, std::vector<Values> arguments);
  /// NotFound when the module has none that the options' name could mean.
  Result<mlir::func::FuncOp> findEntry() const;
  /// NotFound when the module has no such function, or not its body.
  Result<mlir::func::FuncOp> findFunction(llvm::StringRef name) const;
  Result<Values> callFunction(llvm::StringRef name, Values arguments);
  /// Runs a region of one block with arguments of its types. `outer` holds what it uses from around it.
  Result<Values> runRegion(mlir::Region &region, Values arguments, const Scope *outer);

  /// Of an op by its name; null when it cannot be interpreted.
  Evaluation findEvaluation(llvm::StringRef name) const { return run->table.find(name).evaluation; }
  /// Another number each time, the same ones in each run.
  uint64_t nextSeed() { return ++run->seed; }
  /// How often this was called for the probe.
  int64_t nextIteration(llvm::StringRef probe) { return ++run->iterations[probe]; }
  const Options &options() const { return run->options; }
  /// The processes of which this one is.
  ProcessGrid &grid() const { return *ownGrid; }
  ProcessId process() const { return id; }

private:
  Status evaluate(mlir::Operation &op, Scope &scope);
  EvaluationTable::Row findRow(mlir::Operation &op);
  Result<Values> compute(mlir::Operation &op, const Values &operands, const Scope &scope);

  /// What all tasks of a run share.
  struct Run {
    Run(mlir::ModuleOp module, const Options &options)
        : module(module), symbols(module), options(options), grid(1, 1) {}

    mlir::ModuleOp module;
    mlir::SymbolTable symbols;
    EvaluationTable table;
    Options options;
    llvm::StringMap<int64_t> iterations; ///< of probes
    uint64_t seed = 0;
    ProcessGrid grid; ///< of the program that has not said that it runs in parallel
  };

  std::shared_ptr<Run> run;
  ProcessGrid *ownGrid;
  ProcessId id;
  llvm::DenseMap<mlir::OperationName, EvaluationTable::Row> found; ///< that were looked up before
  int depth = 0;                                                   ///< of nested regions and calls
};

} // namespace torchere::interpreter
