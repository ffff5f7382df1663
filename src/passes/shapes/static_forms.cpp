// Implements the replacement of dynamic ops by their static forms.
#include "passes/shapes/static_forms.h"

#include "evaluation/constant_evaluation.h"
#include "passes/shapes/empty_slices.h"
#include "stablehlo/bounds.h"
#include "stablehlo/convolution_shape.h"
#include "stablehlo/dialect.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace torchere::evaluation;
using namespace torchere::stablehlo;

namespace torchere::passes {

namespace {

using Sizes = std::optional<SmallVector<int64_t>>;

Sizes constantSizes(Value value) {
  DenseIntElementsAttr constant = constantInteger(value);
  if (!constant)
    return std::nullopt;
  bool isUnsigned = constant.getElementType().isUnsignedInteger();
  return SmallVector<int64_t>(llvm::map_range(constant.getValues<APInt>(), [&](const APInt &size) {
    return isUnsigned ? static_cast<int64_t>(size.getZExtValue()) : size.getSExtValue();
  }));
}

/// A result shape that the program computed: one size, 0 or more, for each dimension.
FailureOr<RankedTensorType> computedType(Operation *op, ArrayRef<int64_t> sizes) {
  auto declared = cast<RankedTensorType>(op->getResult(0).getType());
  Reporter reporter(op);
  if (failed(reporter.size("", "computed shape", sizes.size(), declared.getRank())) ||
      failed(reporter.atLeast("", "size in the computed shape", sizes, 0)))
    return failure();
  if (failed(verifyCompatibleShape(sizes, declared.getShape())))
    return reporter.violation("", "computed shape does not fit the result: got ", withShape(declared, sizes),
                              ", expected ", declared);
  return withShape(declared, sizes);
}

/// Replaces `op` by `Op`, with its inferred type.
template <class Op>
FailureOr<Operation *> replaceInferred(Operation *op, ValueRange operands,
                                       typename Op::Properties properties) {
  SmallVector<Type> types;
  if (failed(Op::inferReturnTypes(op->getContext(), op->getLoc(), operands,
                                  op->getDiscardableAttrDictionary(), &properties, {}, types)))
    return failure();
  OpBuilder builder(op);
  auto replacement = Op::create(builder, op->getLoc(), TypeRange(types), operands, properties,
                                llvm::to_vector(op->getDiscardableAttrs()));
  op->getResult(0).replaceAllUsesWith(replacement->getResult(0));
  op->erase();
  return replacement.getOperation();
}

/// Replaces `op` by `Op`, with a given type.
template <class Op, class... Args>
FailureOr<Operation *> replaceTyped(Operation *op, RankedTensorType type, Args &&...args) {
  OpBuilder builder(op);
  auto replacement = Op::create(builder, op->getLoc(), type, std::forward<Args>(args)...);
  replacement->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op->getResult(0).replaceAllUsesWith(replacement->getResult(0));
  op->erase();
  return replacement.getOperation();
}

/// Replaces `op` by `Op`, whose shape is the constant `shape`.
template <class Op, class... Args>
FailureOr<Operation *> replaceShaped(Operation *op, Value shape, Args &&...args) {
  Sizes sizes = constantSizes(shape);
  if (!sizes)
    return op;
  FailureOr<RankedTensorType> type = computedType(op, *sizes);
  if (failed(type))
    return failure();
  return replaceTyped<Op>(op, *type, std::forward<Args>(args)...);
}

FailureOr<Operation *> makeStaticBroadcast(DynamicBroadcastInDimOp op) {
  return replaceShaped<BroadcastInDimOp>(op, op.getOutputDimensions(), op.getOperand(),
                                         op.getBroadcastDimensions());
}

FailureOr<Operation *> makeStaticReshape(DynamicReshapeOp op) {
  return replaceShaped<ReshapeOp>(op, op.getOutputShape(), op.getOperand());
}

FailureOr<Operation *> makeStaticIota(DynamicIotaOp op) {
  return replaceShaped<IotaOp>(op, op.getOutputShape(), op.getIotaDimension());
}

FailureOr<Operation *> makeStaticPad(DynamicPadOp op) {
  Sizes low = constantSizes(op.getEdgePaddingLow()), high = constantSizes(op.getEdgePaddingHigh());
  Sizes interior = constantSizes(op.getInteriorPadding());
  if (!low || !high || !interior)
    return op.getOperation();
  Builder builder(op.getContext());
  PadOp::Properties properties;
  properties.edge_padding_low = builder.getDenseI64ArrayAttr(*low);
  properties.edge_padding_high = builder.getDenseI64ArrayAttr(*high);
  properties.interior_padding = builder.getDenseI64ArrayAttr(*interior);
  return replaceInferred<PadOp>(op, {op.getOperand(), op.getPaddingValue()}, properties);
}

FailureOr<Operation *> makeStaticSlice(RealDynamicSliceOp op) {
  Sizes start = constantSizes(op.getStartIndices()), limit = constantSizes(op.getLimitIndices());
  Sizes strides = constantSizes(op.getStrides());
  if (!start || !limit || !strides)
    return op.getOperation();
  Builder builder(op.getContext());
  SliceOp::Properties properties;
  properties.start_indices = builder.getDenseI64ArrayAttr(*start);
  properties.limit_indices = builder.getDenseI64ArrayAttr(*limit);
  properties.strides = builder.getDenseI64ArrayAttr(*strides);
  return replaceInferred<SliceOp>(op, op.getOperand(), properties);
}

FailureOr<Operation *> makeStaticGather(DynamicGatherOp op) {
  Sizes sizes = constantSizes(op.getSliceSizes());
  if (!sizes)
    return op.getOperation();
  GatherOp::Properties properties;
  properties.dimension_numbers = op.getDimensionNumbersAttr();
  properties.slice_sizes = DenseI64ArrayAttr::get(
      op.getContext(), sliceSizesWithin(op.getOperand().getType(), op.getStartIndices().getType(),
                                        op.getDimensionNumbers(), *sizes));
  properties.indices_are_sorted = op.getIndicesAreSortedAttr();
  return replaceInferred<GatherOp>(op, {op.getOperand(), op.getStartIndices()}, properties);
}

FailureOr<Operation *> makeStaticConvolution(DynamicConvOp op) {
  Sizes values = constantSizes(op.getPadding());
  if (!values)
    return op.getOperation();
  auto paddingType =
      RankedTensorType::get(op.getPadding().getType().getShape(), IntegerType::get(op.getContext(), 64));
  auto padding = DenseIntElementsAttr::get(paddingType, *values);
  ConvolutionShape convolution = describeConvolution(op);
  convolution.padding = padding;
  FailureOr<SmallVector<int64_t>> shape = inferConvolution(Reporter(op), convolution);
  if (failed(shape))
    return failure();
  return replaceTyped<ConvolutionOp>(op, op.getType().clone(*shape), op.getLhs(), op.getRhs(),
                                     op.getWindowStridesAttr(), padding, op.getLhsDilationAttr(),
                                     op.getRhsDilationAttr(), op.getWindowReversalAttr(),
                                     op.getDimensionNumbersAttr(), op.getFeatureGroupCountAttr(),
                                     op.getBatchGroupCountAttr(), op.getPrecisionConfigAttr());
}

} // namespace

bool isDynamic(Operation *op) {
  return isa<DynamicBroadcastInDimOp, DynamicReshapeOp, DynamicIotaOp, DynamicPadOp, RealDynamicSliceOp,
             DynamicGatherOp, DynamicConvOp>(op);
}

FailureOr<Operation *> makeStatic(Operation *op) {
  return llvm::TypeSwitch<Operation *, FailureOr<Operation *>>(op)
      .Case(makeStaticBroadcast)
      .Case(makeStaticReshape)
      .Case(makeStaticIota)
      .Case(makeStaticPad)
      .Case(makeStaticSlice)
      .Case(makeStaticGather)
      .Case(makeStaticConvolution)
      .Default([](Operation *other) { return FailureOr<Operation *>(other); });
}

} // namespace torchere::passes
