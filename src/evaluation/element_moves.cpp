// Implements the ops that move elements.
#include "evaluation/element_moves.h"

#include "stablehlo/dialect.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace torchere::stablehlo;
using llvm::APInt;

namespace torchere::evaluation {

namespace {

using Index = SmallVector<int64_t>;

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// Calls `visit` with each index into a static shape, in row-major order.
void forEachIndex(ArrayRef<int64_t> shape, function_ref<void(ArrayRef<int64_t>)> visit) {
  int64_t count = ShapedType::getNumElements(shape);
  Index index(shape.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    visit(index);
    for (int64_t dimension = shape.size() - 1; dimension >= 0 && ++index[dimension] == shape[dimension];
         --dimension)
      index[dimension] = 0;
  }
}

int64_t flatten(ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  int64_t flat = 0;
  for (auto [position, size] : llvm::zip_equal(index, shape))
    flat = flat * size + position;
  return flat;
}

/// The result's elements, each taken from the first operand where `source` says.
Elements take(Operation *op, const Elements &elements,
              function_ref<void(ArrayRef<int64_t>, MutableArrayRef<int64_t>)> source) {
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(0));
  Index from(shape.size());
  Elements taken;
  forEachIndex(shapeOf(op->getResult(0)), [&](ArrayRef<int64_t> index) {
    source(index, from);
    taken.push_back(elements[flatten(from, shape)]);
  });
  return taken;
}

Elements slice(SliceOp op, const Elements &elements) {
  ArrayRef<int64_t> starts = op.getStartIndices(), strides = op.getStrides();
  return take(op, elements, [=](ArrayRef<int64_t> index, MutableArrayRef<int64_t> from) {
    for (size_t i = 0; i < index.size(); ++i)
      from[i] = starts[i] + index[i] * strides[i];
  });
}

Elements broadcast(BroadcastInDimOp op, const Elements &elements) {
  ArrayRef<int64_t> shape = shapeOf(op.getOperand()), dimensions = op.getBroadcastDimensions();
  return take(op, elements, [=](ArrayRef<int64_t> index, MutableArrayRef<int64_t> from) {
    for (size_t i = 0; i < from.size(); ++i)
      from[i] = shape[i] == 1 ? 0 : index[dimensions[i]];
  });
}

Elements transpose(TransposeOp op, const Elements &elements) {
  ArrayRef<int64_t> permutation = op.getPermutation();
  return take(op, elements, [=](ArrayRef<int64_t> index, MutableArrayRef<int64_t> from) {
    for (size_t i = 0; i < index.size(); ++i)
      from[permutation[i]] = index[i];
  });
}

Elements reverse(ReverseOp op, const Elements &elements) {
  ArrayRef<int64_t> shape = shapeOf(op.getOperand()), dimensions = op.getDimensions();
  return take(op, elements, [=](ArrayRef<int64_t> index, MutableArrayRef<int64_t> from) {
    llvm::copy(index, from.begin());
    for (int64_t dimension : dimensions)
      from[dimension] = shape[dimension] - 1 - from[dimension];
  });
}

Elements concatenate(ConcatenateOp op, ArrayRef<Elements> operands) {
  int64_t axis = op.getDimension();
  Elements joined;
  forEachIndex(shapeOf(op.getResult()), [&](ArrayRef<int64_t> index) {
    Index from(index);
    unsigned operand = 0;
    while (from[axis] >= shapeOf(op->getOperand(operand))[axis])
      from[axis] -= shapeOf(op->getOperand(operand++))[axis];
    joined.push_back(operands[operand][flatten(from, shapeOf(op->getOperand(operand)))]);
  });
  return joined;
}

/// The position in the operand of one that the padded result shows, in one dimension; nothing for padding.
std::optional<int64_t> unpadded(int64_t position, int64_t low, int64_t interior, int64_t size) {
  int64_t shifted = position - low, step = interior + 1;
  if (shifted < 0 || shifted % step != 0 || shifted / step >= size)
    return std::nullopt;
  return shifted / step;
}

Elements pad(PadOp op, ArrayRef<Elements> operands) {
  ArrayRef<int64_t> shape = shapeOf(op.getOperand());
  Elements padded;
  forEachIndex(shapeOf(op.getResult()), [&](ArrayRef<int64_t> index) {
    Index from;
    for (size_t i = 0; i < index.size(); ++i)
      if (auto position = unpadded(index[i], op.getEdgePaddingLow()[i], op.getInteriorPadding()[i], shape[i]))
        from.push_back(*position);
    padded.push_back(from.size() == index.size() ? operands[0][flatten(from, shape)] : operands[1][0]);
  });
  return padded;
}

std::optional<Elements> iota(IotaOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  if (!isa<IntegerType>(type.getElementType()))
    return std::nullopt;
  Elements elements;
  forEachIndex(type.getShape(), [&](ArrayRef<int64_t> index) {
    elements.push_back(APInt(64, index[op.getIotaDimension()]).zextOrTrunc(type.getElementTypeBitWidth()));
  });
  return elements;
}

} // namespace

bool movesOneOperand(Operation *op) {
  return isa<ReshapeOp, BroadcastInDimOp, TransposeOp, ReverseOp, SliceOp>(op);
}

std::optional<Elements> moveElements(Operation *op, ArrayRef<Elements> operands) {
  using Result = std::optional<Elements>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](ReshapeOp) -> Result { return operands[0]; })
      .Case([&](SliceOp slicing) -> Result { return slice(slicing, operands[0]); })
      .Case([&](BroadcastInDimOp broadcasting) -> Result { return broadcast(broadcasting, operands[0]); })
      .Case([&](TransposeOp transposing) -> Result { return transpose(transposing, operands[0]); })
      .Case([&](ReverseOp reversing) -> Result { return reverse(reversing, operands[0]); })
      .Case([&](ConcatenateOp joining) -> Result { return concatenate(joining, operands); })
      .Case([&](PadOp padding) -> Result { return pad(padding, operands); })
      .Case([&](IotaOp counting) { return iota(counting); })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace torchere::evaluation
