// Call: one op with the values of its operands, as the functions that evaluate ops see it.
//
// Ops and their attributes have the specification's names. Types and constraints have been verified, also on
// the runtime sizes, so an evaluation checks only what depends on the elements.
#pragma once

#include "interpreter/evaluation_table.h"
#include "interpreter/mlir_values.h"

#include "mlir/IR/Operation.h"

namespace torchere::interpreter {

class Evaluator;
class Scope;

class Call {
public:
  /// `onNumbers`: quantized operands and results are passed as the numbers that they represent.
  Call(mlir::Operation *op, const Values &operands, const Scope &scope, Evaluator &evaluator,
       bool onNumbers = false)
      : op(op), operands(operands), scope(scope), runner(evaluator), onNumbers(onNumbers) {}

  mlir::Operation *operation() const { return op; }
  Evaluator &evaluator() const { return runner; }

  const Values &values() const { return operands; }
  const Tensor &operand(size_t index) const { return operands[index].tensor(); }
  size_t operandCount() const { return operands.size(); }

  mlir::Attribute attribute(llvm::StringRef name) const { return op->getAttr(name); }
  /// Null if the op does not have it.
  template <class Attribute> Attribute attribute(llvm::StringRef name) const {
    return mlir::dyn_cast_or_null<Attribute>(op->getAttr(name));
  }
  int64_t integer(llvm::StringRef name) const;
  bool flag(llvm::StringRef name) const; ///< false if the op does not have it
  std::string string(llvm::StringRef name) const;
  /// A list, or a dense tensor in row-major order; empty if the op does not have it.
  Index integers(llvm::StringRef name) const;
  /// The same; `count` times `value` if the op does not have it.
  Index integers(llvm::StringRef name, size_t count, int64_t value) const;

  size_t resultCount() const { return op->getNumResults(); }
  /// The element type to return for a tensor result. Unimplemented for sparse types and the like.
  Result<ElementType> resultType(size_t index = 0) const;
  /// The declared shape of a tensor result. Unimplemented if a size is unknown.
  Result<Index> resultShape(size_t index = 0) const;

  mlir::Region &region(size_t index) const { return op->getRegion(index); }
  Result<Values> run(mlir::Region &region, Values arguments) const;

private:
  mlir::Operation *op;
  const Values &operands;
  const Scope &scope;
  Evaluator &runner;
  bool onNumbers;
};

/// Whether the op asserts something about two tensors and has no other effect; it may then be a custom call.
bool comparesTwoTensors(std::string_view check);

/// The results of an op with a single one.
Result<Values> oneResult(Result<Tensor> result);

/// Evaluates an op that returns its operands.
Result<Values> passOn(const Call &call);

} // namespace torchere::interpreter
