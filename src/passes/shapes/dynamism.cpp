// Implements canonicalizeDynamism.
#include "passes/shapes/dynamism.h"

#include "evaluation/constant_evaluation.h"
#include "passes/shapes/static_forms.h"
#include "passes/simplify/dead_code.h"
#include "stablehlo/dialect.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace torchere::evaluation;
using namespace torchere::stablehlo;

namespace torchere::passes {

namespace {

bool hasStaticResult(Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  return type && type.hasStaticShape();
}

/// Ops whose static form must have a static type.
bool needsStaticResult(Operation *op) {
  return isa<DynamicBroadcastInDimOp, DynamicIotaOp, DynamicReshapeOp>(op);
}

/// The constant c if `limit` is `start` + c; else null.
DenseIntElementsAttr constantExtent(Value start, Value limit) {
  auto sum = limit.getDefiningOp<AddOp>();
  if (!sum)
    return {};
  if (sum.getLhs() == start)
    return constantInteger(sum.getRhs());
  return sum.getRhs() == start ? constantInteger(sum.getLhs()) : DenseIntElementsAttr();
}

/// A slice of constant size from a computed start, without strides, is a dynamic_slice.
LogicalResult makeDynamicSlice(RealDynamicSliceOp op) {
  DenseIntElementsAttr extent = constantExtent(op.getStartIndices(), op.getLimitIndices());
  DenseIntElementsAttr strides = constantInteger(op.getStrides());
  bool isUnit =
      strides && llvm::all_of(strides.getValues<APInt>(), [](const APInt &stride) { return stride.isOne(); });
  if (!extent || !isUnit || !hasStaticResult(op) || extent.getElementType().isIndex())
    return failure();
  OpBuilder builder(op);
  Location location = op.getLoc();
  SmallVector<int64_t> sizes;
  SmallVector<Value> starts;
  auto scalar = RankedTensorType::get({}, extent.getElementType());
  for (auto [index, size] : llvm::enumerate(extent.getValues<APInt>())) {
    int64_t position = index;
    Value element = SliceOp::create(
        builder, location, scalar.clone({1}), op.getStartIndices(), builder.getDenseI64ArrayAttr(position),
        builder.getDenseI64ArrayAttr(position + 1), builder.getDenseI64ArrayAttr(1));
    starts.push_back(ReshapeOp::create(builder, location, scalar, element));
    sizes.push_back(size.getSExtValue());
  }
  auto slice = DynamicSliceOp::create(builder, location, op.getType(), op.getOperand(), starts,
                                      builder.getDenseI64ArrayAttr(sizes));
  slice->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op.replaceAllUsesWith(slice.getResult());
  op.erase();
  return success();
}

/// Constant operands that hold the shapes of static results are superfluous.
void dropShapeOperands(CustomCallOp op) {
  auto indices = op->getAttrOfType<DenseIntElementsAttr>("indices_of_shape_operands");
  if (!indices || indices.getNumElements() != op->getNumResults())
    return;
  llvm::BitVector dropped(op->getNumOperands());
  for (auto [result, index] : llvm::zip_equal(op->getResults(), indices.getValues<APInt>())) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || !type.hasStaticShape() || index.uge(op->getNumOperands()) ||
        !constantInteger(op->getOperand(index.getZExtValue())))
      return;
    dropped.set(index.getZExtValue());
  }
  op->eraseOperands(dropped);
  op->removeAttr("indices_of_shape_operands");
}

} // namespace

LogicalResult canonicalizeDynamism(func::FuncOp function) {
  bool failed = false;
  function.walk([&](Operation *op) {
    if (auto call = dyn_cast<CustomCallOp>(op))
      return dropShapeOperands(call), WalkResult::advance();
    if (!isDynamic(op) || (needsStaticResult(op) && !hasStaticResult(op)))
      return WalkResult::advance();
    Type declared = op->getResult(0).getType();
    FailureOr<Operation *> form = makeStatic(op);
    if (mlir::failed(form)) {
      failed = true;
      return WalkResult::interrupt();
    }
    (*form)->getResult(0).setType(declared);
    if (auto slice = dyn_cast<RealDynamicSliceOp>(*form))
      (void)makeDynamicSlice(slice);
    return WalkResult::advance();
  });
  if (failed)
    return failure();
  eraseDeadOps(function);
  return success();
}

} // namespace torchere::passes
