// EvaluatedModule: the module that a plan is made of, whose ops without a kernel the interpreter evaluates.
#pragma once

#include "cpu/plan/plan.h"
#include "interpreter/evaluator.h"
#include "stablehlo/module.h"

#include <mutex>

namespace torchere::cpu {

/// MLIR's context is for one thread at a time, so threads take turns.
class EvaluatedModule {
public:
  /// Modules of one context share a mutex.
  explicit EvaluatedModule(stablehlo::Module module, std::shared_ptr<std::mutex> mutex);

  mlir::ModuleOp op() const;
  const stablehlo::Module &module() const { return held; }
  Result<interpreter::Values> evaluate(mlir::Operation &op, const interpreter::Scope &scope);
  std::unique_lock<std::mutex> lock() { return std::unique_lock(*mutex); }

private:
  stablehlo::Module held;
  std::shared_ptr<std::mutex> mutex;
  interpreter::Evaluator evaluator;
};

/// Evaluates one op. Its inputs are dense views of its operands and of what its regions capture.
class EvaluationStep final : public Step {
public:
  struct Input {
    mlir::Value value;
    View view;
  };
  EvaluationStep(std::shared_ptr<EvaluatedModule> module, mlir::Operation *op, std::vector<Input> inputs,
                 std::vector<View> outputs)
      : module(std::move(module)), op(op), inputs(std::move(inputs)), outputs(std::move(outputs)) {}
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "evaluation"; }

private:
  std::shared_ptr<EvaluatedModule> module;
  mlir::Operation *op;
  std::vector<Input> inputs;
  std::vector<View> outputs;
};

/// The values that the op's regions use and do not define.
llvm::SmallVector<mlir::Value> capturesOf(mlir::Operation *op);

} // namespace torchere::cpu
