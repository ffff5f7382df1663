// Implements calls of kernels as custom calls with a dictionary.
#include "cpu/frontend/fusion/kernel_call.h"

#include "passes/chlo/formula.h"

using namespace mlir;

namespace torchere::cpu {

stablehlo::CustomCallOp createKernelCall(OpBuilder &builder, Location location, StringRef kernel,
                                         TypeRange results, ValueRange operands,
                                         ArrayRef<NamedAttribute> attributes) {
  OperationState state(location, stablehlo::CustomCallOp::getOperationName());
  state.addTypes(results);
  state.addOperands(operands);
  state.addAttribute("call_target_name", builder.getStringAttr(kernelPrefix + kernel));
  state.addAttribute("backend_config", builder.getDictionaryAttr(attributes));
  state.addAttribute("api_version",
                     stablehlo::CustomCallApiVersionAttr::get(
                         builder.getContext(), stablehlo::CustomCallApiVersion::API_VERSION_TYPED_FFI));
  return cast<stablehlo::CustomCallOp>(builder.create(state));
}

void replaceByElementwiseCall(Operation *op, StringRef kernel, Value operand) {
  OpBuilder builder(op);
  SmallVector<Value> operands{operand};
  bool isOpen = !cast<RankedTensorType>(op->getResult(0).getType()).hasStaticShape();
  if (isOpen)
    operands.push_back(passes::shapeOf(builder, op->getLoc(), operand));
  stablehlo::CustomCallOp call =
      createKernelCall(builder, op->getLoc(), kernel, op->getResultTypes(), operands);
  if (isOpen)
    call->setAttr("indices_of_shape_operands", builder.getI64TensorAttr({1}));
  op->replaceAllUsesWith(call);
}

bool isKernelCall(Operation *op, StringRef kernel) {
  auto call = dyn_cast_or_null<stablehlo::CustomCallOp>(op);
  if (!call)
    return false;
  StringRef target = call.getCallTargetName();
  return target.consume_front(kernelPrefix) && (kernel.empty() || target == kernel);
}

Attribute kernelAttribute(Operation *op, StringRef name) {
  auto attributes = op->getAttrOfType<DictionaryAttr>("backend_config");
  return attributes ? attributes.get(name) : Attribute();
}

} // namespace torchere::cpu
