// Implements the refinement of one op's result types.
#include "passes/shapes/type_refinement.h"

#include "evaluation/constant_evaluation.h"
#include "passes/shapes/empty_slices.h"
#include "stablehlo/bounds.h"
#include "stablehlo/convolution_shape.h"
#include "stablehlo/dialect.h"
#include "stablehlo/dot_shape.h"

#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace torchere::evaluation;
using namespace torchere::stablehlo;

namespace torchere::passes {

namespace {

using Types = SmallVector<Type>;

Type resultWithShape(Operation *op, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  return withShape(type, shape, boundsOf(type));
}

FailureOr<Types> resultOfShape(Operation *op, FailureOr<SmallVector<int64_t>> shape) {
  if (failed(shape))
    return failure();
  return Types{resultWithShape(op, *shape)};
}

FailureOr<Types> inferByInterface(InferTypeOpInterface op) {
  Types types;
  if (failed(op.inferReturnTypes(op->getContext(), op->getLoc(), op->getOperands(),
                                 op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
                                 op->getRegions(), types)))
    return failure();
  return types;
}

/// Narrower elements have a last dimension more than wider ones: their number in one of those.
FailureOr<Types> inferBitcast(BitcastConvertOp op) {
  SmallVector<int64_t> shape(op.getOperand().getType().getShape());
  ArrayRef<int64_t> declared = op.getType().getShape();
  if (declared.size() > shape.size())
    shape.push_back(declared.back());
  else if (declared.size() < shape.size())
    shape.pop_back();
  return Types{resultWithShape(op, shape)};
}

FailureOr<Types> inferConvolutionType(ConvolutionOp op) {
  ConvolutionShape convolution = describeConvolution(op);
  convolution.padding = op.getPaddingAttr();
  return resultOfShape(op, inferConvolution(Reporter(op), convolution));
}

FailureOr<Types> inferGatherType(GatherOp op) {
  op.setSliceSizes(sliceSizesWithin(op.getOperand().getType(), op.getStartIndices().getType(),
                                    op.getDimensionNumbers(), op.getSliceSizes()));
  return inferByInterface(cast<InferTypeOpInterface>(op.getOperation()));
}

/// A custom call names, in indices_of_shape_operands, the operand that holds each result's shape.
FailureOr<Types> inferCustomCall(CustomCallOp op) {
  Types types(op->getResultTypes());
  auto indices = op->getAttrOfType<DenseIntElementsAttr>("indices_of_shape_operands");
  if (!indices)
    return types;
  if (indices.getNumElements() != op->getNumResults())
    return op.emitOpError() << "indices_of_shape_operands has " << indices.getNumElements()
                            << " elements, expected " << op->getNumResults();
  for (auto [type, index] : llvm::zip(types, indices.getValues<APInt>())) {
    if (index.uge(op->getNumOperands()))
      return op.emitOpError() << "indices_of_shape_operands names operand " << index.getSExtValue() << " of "
                              << op->getNumOperands();
    DenseIntElementsAttr constant = constantInteger(op->getOperand(index.getZExtValue()));
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (constant && tensor && constant.getNumElements() == tensor.getRank())
      type = withShape(tensor, llvm::map_to_vector(constant.getValues<APInt>(),
                                                   [](const APInt &size) { return size.getSExtValue(); }));
  }
  return types;
}

FailureOr<Types> inferTypes(Operation *op) {
  return llvm::TypeSwitch<Operation *, FailureOr<Types>>(op)
      .Case(inferGatherType)
      .Case([](InferTypeOpInterface inferring) { return inferByInterface(inferring); })
      .Case([](ConvertOp convert) {
        return Types{resultWithShape(convert, convert.getOperand().getType().getShape())};
      })
      .Case([](DotGeneralOp dot) { return resultOfShape(dot, inferDotGeneral(dot)); })
      .Case(inferBitcast)
      .Case(inferConvolutionType)
      .Case(inferCustomCall)
      .Default([](Operation *other) { return Types(other->getResultTypes()); });
}

/// The dimensions that either type knows; null if the types contradict each other.
Type merge(Type inferred, Type declared) {
  auto inferredTensor = dyn_cast<RankedTensorType>(inferred);
  auto declaredTensor = dyn_cast<RankedTensorType>(declared);
  if (!inferredTensor || !declaredTensor)
    return inferred == declared ? declared : Type();
  // Whether the element types fit is for the op to verify: quantized ones may differ.
  if (failed(verifyCompatibleShape(inferredTensor, declaredTensor)))
    return {};
  SmallVector<int64_t> shape(inferredTensor.getShape());
  for (auto [size, known] : llvm::zip(shape, declaredTensor.getShape()))
    if (!isKnown(size))
      size = known;
  SmallVector<int64_t> bounds = boundsOf(declaredTensor);
  tightenBounds(bounds, inferredTensor);
  return withShape(declaredTensor, shape, bounds);
}

} // namespace

LogicalResult refineResultTypes(Operation *op) {
  if (op->getNumResults() == 0)
    return success();
  FailureOr<Types> types = inferTypes(op);
  if (failed(types))
    return failure();
  for (auto [result, inferred] : llvm::zip(op->getResults(), *types)) {
    Type merged = merge(inferred, result.getType());
    if (!merged)
      return op->emitOpError() << "has the result type " << result.getType()
                               << ", but the shapes at hand give " << inferred;
    result.setType(merged);
  }
  return success();
}

} // namespace torchere::passes
