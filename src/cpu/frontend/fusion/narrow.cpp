// Finds products and calls of kernels in f32 whose operands were widened from bf16 or f16, or whose result is
// rounded to it: they read and write the narrow values themselves.
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/fusion/narrow_values.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// Gives the op's result the narrow type that it is rounded to, if that is `type`.
bool narrowResult(Operation *op, Type type) {
  mlir::Value result = op->getResult(0);
  std::optional<Narrowing> narrowing = Narrowing::of(result);
  if (!narrowing || narrowing->type() != type)
    return false;
  OpBuilder builder(op);
  Operation *made = builder.clone(*op);
  made->getResult(0).setType(cast<RankedTensorType>(result.getType()).clone(type));
  narrowing->replaceBy(made->getResult(0));
  return true;
}

/// A product of widened factors: that of the narrow ones, which is computed in f32 too.
bool narrowProduct(stablehlo::DotGeneralOp dot) {
  if (!getElementTypeOrSelf(dot->getResult(0).getType()).isF32())
    return false;
  WidenedValue left(dot.getLhs()), right(dot.getRhs());
  Type type = left.narrowType();
  if (!type || right.narrowType() != type)
    return false;
  bool isNarrowed = isNarrow(dot.getLhs().getType()) && isNarrow(dot.getRhs().getType());
  OpBuilder builder(dot);
  dot.getLhsMutable().assign(left.narrowed(builder));
  dot.getRhsMutable().assign(right.narrowed(builder));
  return narrowResult(dot, type) || !isNarrowed;
}

/// Calls that take one type.
bool narrowCall(Operation *call) {
  mlir::Value source = withoutWidening(call->getOperand(0));
  std::optional<Narrowing> narrowing = Narrowing::of(call->getResult(0));
  Type type = getElementTypeOrSelf(source.getType());
  if (source == call->getOperand(0) || !narrowing || narrowing->type() != type)
    return false;
  call->setOperand(0, source);
  return narrowResult(call, type);
}

} // namespace

int64_t fuseNarrowValues(func::FuncOp function) {
  SmallVector<Operation *> found;
  function.walk([&](Operation *op) {
    for (StringRef kernel : {"softmax", "silu", "gelu", "gelu_tanh", "erf"})
      if (isKernelCall(op, kernel))
        found.push_back(op);
    if (isa<stablehlo::DotGeneralOp>(op))
      found.push_back(op);
  });
  return llvm::count_if(found, [](Operation *op) {
    auto dot = dyn_cast<stablehlo::DotGeneralOp>(op);
    return dot ? narrowProduct(dot) : narrowCall(op);
  });
}

} // namespace torchere::cpu
