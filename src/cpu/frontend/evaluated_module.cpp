// Implements the evaluation of single ops.
#include "cpu/frontend/evaluated_module.h"

#include "interpreter/call.h"
#include "stablehlo/module_implementation.h"

#include "llvm/ADT/SetVector.h"

#include <cstring>

namespace torchere::cpu {

using interpreter::Tensor;

EvaluatedModule::EvaluatedModule(stablehlo::Module module, std::shared_ptr<std::mutex> mutex)
    : held(std::move(module)), mutex(std::move(mutex)), evaluator(op(), interpreter::Options()) {}

mlir::ModuleOp EvaluatedModule::op() const {
  return *held.implementation().module;
}

Result<interpreter::Values> EvaluatedModule::evaluate(mlir::Operation &op, const interpreter::Scope &scope) {
  llvm::StringRef name = op.getName().getStringRef();
  interpreter::Evaluation evaluation = evaluator.findEvaluation(name);
  if (!evaluation)
    return fail(ErrorCode::Unimplemented, "[{}] the op cannot be evaluated", name.str());
  interpreter::Values operands;
  for (mlir::Value operand : op.getOperands())
    operands.push_back(scope.find(operand));
  std::lock_guard guard(*mutex);
  Result<interpreter::Values> results = evaluation(interpreter::Call(&op, operands, scope, evaluator));
  if (!results && !results.error().message.starts_with('['))
    results.error().message = fmt::format("[{}] {}", name.str(), results.error().message);
  if (!results && results.error().where.empty())
    results.error().where = interpreter::placeText(op.getLoc());
  return results;
}

/// A copy of the view's elements.
static Result<Tensor> tensorAt(const Frame &frame, const View &view) {
  TORCHERE_ASSIGN(Tensor tensor, Tensor::create(view.type, view.shape));
  if (!tensor.bytes().empty())
    std::memcpy(tensor.writableBytes().data(), frame.at(view), tensor.bytes().size());
  return tensor;
}

Status EvaluationStep::run(const Frame &frame) const {
  interpreter::Scope scope;
  for (const Input &input : inputs) {
    TORCHERE_ASSIGN(Tensor tensor, tensorAt(frame, input.view));
    scope.bind(input.value, std::move(tensor));
  }
  TORCHERE_ASSIGN(interpreter::Values results, module->evaluate(*op, scope));
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::span<const std::byte> bytes = results[i].tensor().bytes();
    if (!bytes.empty())
      std::memcpy(frame.at(outputs[i]), bytes.data(), bytes.size());
  }
  return {};
}

llvm::SmallVector<mlir::Value> capturesOf(mlir::Operation *op) {
  llvm::SetVector<mlir::Value> captures;
  op->walk([&](mlir::Operation *nested) {
    if (nested == op)
      return;
    for (mlir::Value operand : nested->getOperands())
      if (!op->isAncestor(operand.getParentRegion()->getParentOp()))
        captures.insert(operand);
  });
  return captures.takeVector();
}

} // namespace torchere::cpu
