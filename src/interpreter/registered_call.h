// Custom calls whose kernels are registered with this process.
#pragma once

#include "evaluation/tensor.h"
#include "ffi/call_site.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace torchere::interpreter {

/// The call's kernel, instantiated. NotFound if none is registered for its target; InvalidArgument for a
/// calling convention other than the typed one, and for attributes that kernels cannot be given.
Result<std::unique_ptr<const ffi::CallSite>> instantiateCall(mlir::Operation *call);
/// Whether the call gives its operand: it annotates a value's place, of which there is one here.
bool isPlacement(mlir::Operation *call);
/// What instantiateCall() fails with for a custom call of the module that the interpreter does not know
/// itself.
Status checkCustomCalls(mlir::ModuleOp module);

/// How a kernel wants its operands and results to lie in memory.
struct CallForm {
  /// By operand or result: dimension order[i] is the i-th, the last of which is dense. Empty lists stand for
  /// the usual order.
  std::vector<evaluation::Index> operandOrders, resultOrders;
  /// By result: the operand that it has the memory, or a copy, of.
  std::vector<std::optional<size_t>> aliasedOperands;
};
CallForm formOf(mlir::Operation *call);

} // namespace torchere::interpreter
