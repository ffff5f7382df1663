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

stablehlo::CustomCallOp createOpenCall(OpBuilder &builder, Location location, StringRef kernel, Type result,
                                       ValueRange operands, Value sizes,
                                       ArrayRef<NamedAttribute> attributes) {
  SmallVector<Value> all(operands);
  all.push_back(sizes);
  stablehlo::CustomCallOp call = createKernelCall(builder, location, kernel, result, all, attributes);
  call->setAttr("indices_of_shape_operands",
                builder.getI64TensorAttr({static_cast<int64_t>(operands.size())}));
  return call;
}

/// Of the op's operands, which have that rank if they are no scalars: of a broadcast, or of a call.
static Value computedSizesOf(Operation *op, int64_t rank, int depth) {
  for (Value operand : op->getOperands()) {
    Operation *source = operand.getDefiningOp();
    if (!source || cast<RankedTensorType>(operand.getType()).getRank() != rank)
      continue;
    if (auto spread = dyn_cast<stablehlo::DynamicBroadcastInDimOp>(source))
      return spread.getOutputDimensions();
    if (isKernelCall(source) && source->hasAttr("indices_of_shape_operands"))
      return source->getOperands().back();
    if (depth > 0 && isa<stablehlo::AddOp, stablehlo::DivOp, stablehlo::ExpOp, stablehlo::MulOp,
                         stablehlo::NegOp, stablehlo::SubtractOp, stablehlo::TanhOp>(source))
      if (Value found = computedSizesOf(source, rank, depth - 1))
        return found;
  }
  return {};
}

Value computedSizesOf(Operation *op) {
  if (isKernelCall(op))
    return op->hasAttr("indices_of_shape_operands") ? op->getOperands().back() : Value();
  return computedSizesOf(op, cast<RankedTensorType>(op->getResult(0).getType()).getRank(), 4);
}

void replaceByShapedCall(Operation *op, StringRef kernel, ValueRange operands,
                         ArrayRef<NamedAttribute> attributes) {
  OpBuilder builder(op);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (type.hasStaticShape()) {
    op->replaceAllUsesWith(createKernelCall(builder, op->getLoc(), kernel, type, operands, attributes));
    return;
  }
  Value sizes = computedSizesOf(op);
  if (!sizes)
    sizes = passes::shapeOf(builder, op->getLoc(), operands.front());
  op->replaceAllUsesWith(createOpenCall(builder, op->getLoc(), kernel, type, operands, sizes, attributes));
}

bool isKernelCall(Operation *op, StringRef kernel) {
  auto call = dyn_cast_or_null<stablehlo::CustomCallOp>(op);
  if (!call)
    return false;
  StringRef target = call.getCallTargetName();
  return target.consume_front(kernelPrefix) && (kernel.empty() || target == kernel);
}

Attribute kernelAttribute(KernelAttributes call, StringRef name) {
  return call.dictionary() ? call.dictionary().get(name) : Attribute();
}

bool kernelFlag(KernelAttributes call, StringRef name) {
  return cast<BoolAttr>(kernelAttribute(call, name)).getValue();
}

int64_t kernelInteger(KernelAttributes call, StringRef name) {
  return cast<IntegerAttr>(kernelAttribute(call, name)).getInt();
}

ArrayRef<int64_t> kernelIntegers(KernelAttributes call, StringRef name) {
  return cast<DenseI64ArrayAttr>(kernelAttribute(call, name)).asArrayRef();
}

double kernelNumber(KernelAttributes call, StringRef name) {
  return cast<FloatAttr>(kernelAttribute(call, name)).getValueAsDouble();
}

stablehlo::DotDimensionNumbersAttr dotNumbersOf(Operation *product) {
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(product))
    return dot.getDotDimensionNumbers();
  return cast<stablehlo::DotDimensionNumbersAttr>(kernelAttribute(product, "dot_dimension_numbers"));
}

int64_t rowLengthOf(Operation *op) {
  auto trailing = kernelInteger(op, "trailing");
  auto shape = cast<RankedTensorType>(op->getOperand(0).getType()).getShape();
  return llvm::product_of(shape.take_back(static_cast<size_t>(trailing)));
}

} // namespace torchere::cpu
