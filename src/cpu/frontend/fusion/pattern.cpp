// Implements the parts of patterns.
#include "cpu/frontend/fusion/pattern.h"

#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/fusion/narrow_values.h"

#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;

namespace torchere::cpu {

/// The nearest number of a float type.
static double roundedTo(Type type, double number) {
  bool isInexact = false;
  APFloat rounded(number);
  rounded.convert(cast<FloatType>(getElementTypeOrSelf(type)).getFloatSemantics(),
                  APFloat::rmNearestTiesToEven, &isInexact);
  return rounded.convertToDouble();
}

std::optional<double> splatOf(mlir::Value value) {
  if (auto spread = value.getDefiningOp<stablehlo::BroadcastInDimOp>())
    return splatOf(spread.getOperand());
  if (auto spread = value.getDefiningOp<stablehlo::DynamicBroadcastInDimOp>()) // before sizes are bound
    return splatOf(spread->getOperand(0));
  if (auto root = value.getDefiningOp<stablehlo::SqrtOp>()) { // of a head's size
    std::optional<double> square = splatOf(root.getOperand());
    return square ? std::optional(std::sqrt(*square)) : std::nullopt;
  }
  if (Operation *op = value.getDefiningOp(); isRounding(op)) {
    std::optional<double> number = splatOf(op->getOperand(0));
    return number ? std::optional(roundedTo(value.getType(), *number)) : std::nullopt;
  }
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return std::nullopt;
  if (isa<FloatType>(elements.getElementType()))
    return elements.getSplatValue<APFloat>().convertToDouble();
  if (elements.getElementType().isSignlessInteger())
    return static_cast<double>(elements.getSplatValue<APInt>().getSExtValue());
  if (elements.getElementType().isUnsignedInteger())
    return static_cast<double>(elements.getSplatValue<APInt>().getZExtValue());
  return std::nullopt;
}

std::optional<int64_t> integerOf(mlir::Value value) {
  std::optional<double> number = splatOf(value);
  return number && std::abs(*number) < 1e9 ? std::optional(static_cast<int64_t>(*number)) : std::nullopt;
}

bool isNear(double number, double expected, Type type) {
  if (number == expected || (isNarrow(type) && number == roundedTo(type, expected)))
    return true;
  double tolerance = getElementTypeOrSelf(type).isF64() ? 1e-14 : 3e-7;
  return std::abs(number - expected) <= tolerance * std::abs(expected);
}

bool isSplat(mlir::Value value, double number) {
  std::optional<double> found = splatOf(value);
  return found && isNear(*found, number, value.getType());
}

bool Subgraph::isClosed(Operation *root) const {
  return llvm::all_of(ops, [&](Operation *op) {
    return op == root ||
           llvm::all_of(op->getUsers(), [&](Operation *user) { return user == root || ops.contains(user); });
  });
}

ArrayRef<int64_t> dimensionsOf(mlir::Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// Whether they are equal, or may be: one is unknown, and none is known to be 1.
static bool mayBeEqual(int64_t a, int64_t b) {
  bool isUnknown = ShapedType::isDynamic(a) || ShapedType::isDynamic(b);
  return a == b || (isUnknown && a != 1 && b != 1);
}

/// The operand of a broadcast that repeats only dimensions in front of `begin`, or only those from it on. If
/// sizes are unknown, it may repeat the others as well.
static mlir::Value repeated(mlir::Value value, int64_t begin, bool inFront, Subgraph &subgraph) {
  Operation *spread = value.getDefiningOp();
  if (!isa_and_present<stablehlo::BroadcastInDimOp, stablehlo::DynamicBroadcastInDimOp>(spread))
    return {};
  mlir::Value operand = spread->getOperand(0);
  ArrayRef<int64_t> to = dimensionsOf(value), from = dimensionsOf(operand);
  SmallVector<int64_t> sizes(to.size(), 1);
  ArrayRef<int64_t> dimensions = spread->getAttrOfType<DenseI64ArrayAttr>("broadcast_dimensions");
  if (!llvm::is_sorted(dimensions))
    return {};
  for (auto [dimension, size] : llvm::zip_equal(dimensions, from))
    sizes[static_cast<size_t>(dimension)] = size;
  for (auto [dimension, size] : llvm::enumerate(sizes)) {
    bool repeats = (static_cast<int64_t>(dimension) < begin) == inFront;
    if (repeats ? size != 1 : !mayBeEqual(size, to[dimension]))
      return {};
  }
  subgraph.add(spread);
  return operand;
}

mlir::Value withoutReshapes(mlir::Value value, Subgraph &subgraph) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<stablehlo::ReshapeOp, stablehlo::DynamicReshapeOp>(op) && !isRounding(op))
      break;
    subgraph.add(op);
    value = op->getOperand(0);
  }
  return value;
}

mlir::Value rowsOf(mlir::Value value, RowShape shape, Subgraph &subgraph) {
  int64_t rank = static_cast<int64_t>(dimensionsOf(value).size());
  mlir::Value rows = repeated(value, rank - shape.trailing, false, subgraph);
  return rows ? withoutReshapes(rows, subgraph) : rows;
}

mlir::Value columnsOf(mlir::Value value, RowShape shape, Subgraph &subgraph) {
  ArrayRef<int64_t> sizes = dimensionsOf(value);
  bool isOpen = ShapedType::isDynamicShape(sizes);
  if (!isOpen && llvm::product_of(sizes) == shape.columns) // one row
    return value;
  int64_t begin = static_cast<int64_t>(sizes.size()) - shape.trailing;
  Subgraph tried = subgraph;
  mlir::Value columns = repeated(value, begin, true, tried);
  // Of unknown columns those that are given may be repeated ones.
  if (!columns || (isOpen && (ShapedType::isDynamicShape(dimensionsOf(columns)) ||
                              ShapedType::isDynamicShape(sizes.drop_front(static_cast<size_t>(begin))))))
    return {};
  subgraph = tried;
  return columns;
}

stablehlo::ReduceOp repeatedReduction(mlir::Value value, int64_t dimension) {
  auto spread = value.getDefiningOp<stablehlo::BroadcastInDimOp>();
  if (!spread || !llvm::is_sorted(spread.getBroadcastDimensions()))
    return {};
  SmallVector<int64_t> sizes(dimensionsOf(value).size(), 1), expected(dimensionsOf(value));
  expected[static_cast<size_t>(dimension)] = 1;
  for (auto [place, size] :
       llvm::zip_equal(spread.getBroadcastDimensions(), dimensionsOf(spread.getOperand())))
    sizes[static_cast<size_t>(place)] = size;
  Subgraph ignored;
  return sizes == expected
             ? withoutReshapes(spread.getOperand(), ignored).getDefiningOp<stablehlo::ReduceOp>()
             : stablehlo::ReduceOp();
}

/// Whether the body is the op on its two arguments.
bool appliesOnly(Region &body, StringRef name) {
  Block &block = body.front();
  if (block.getNumArguments() != 2 || !llvm::hasNItems(block, 2))
    return false;
  Operation &op = block.front();
  Operation *end = block.getTerminator();
  mlir::Value first = block.getArgument(0), second = block.getArgument(1);
  bool takesBoth = op.getNumOperands() == 2 && ((op.getOperand(0) == first && op.getOperand(1) == second) ||
                                                (op.getOperand(0) == second && op.getOperand(1) == first));
  return op.getName().getStringRef() == name && takesBoth && end->getNumOperands() == 1 &&
         end->getOperand(0) == op.getResult(0);
}

mlir::Value reducedRows(mlir::Value value, RowReduction reduction, RowShape &shape, Subgraph &subgraph) {
  auto reduce = withoutReshapes(value, subgraph).getDefiningOp<stablehlo::ReduceOp>();
  if (!reduce || reduce->getNumOperands() != 2)
    return {};
  bool isSum = reduction == RowReduction::Sum;
  std::optional<double> initial = splatOf(reduce->getOperand(1));
  mlir::Value operand = reduce->getOperand(0);
  Type element = getElementTypeOrSelf(operand.getType());
  if (initial != (isSum ? 0 : -INFINITY) || element != getElementTypeOrSelf(reduce->getResult(0).getType()) ||
      !appliesOnly(reduce->getRegion(0), isSum ? "stablehlo.add" : "stablehlo.maximum"))
    return {};
  ArrayRef<int64_t> sizes = dimensionsOf(operand), dimensions = reduce.getDimensions();
  shape = {static_cast<int64_t>(dimensions.size()), 1};
  SmallVector<int64_t> sorted(dimensions);
  llvm::sort(sorted);
  for (auto [i, dimension] : llvm::enumerate(sorted)) {
    if (dimension != static_cast<int64_t>(sizes.size() - sorted.size() + i))
      return {};
    int64_t size = sizes[static_cast<size_t>(dimension)];
    bool isUnknown = ShapedType::isDynamic(size) || ShapedType::isDynamic(shape.columns);
    shape.columns = isUnknown ? ShapedType::kDynamic : shape.columns * size;
  }
  if (sorted.empty())
    return {};
  subgraph.add(reduce);
  return operand;
}

mlir::Value averagedRows(mlir::Value value, RowShape &shape, Subgraph &subgraph) {
  value = withoutReshapes(value, subgraph);
  if (auto quotient = subgraph.take<stablehlo::DivOp>(value)) {
    mlir::Value operand = reducedRows(quotient.getLhs(), RowReduction::Sum, shape, subgraph);
    return operand && isSplat(quotient.getRhs(), static_cast<double>(shape.columns)) ? operand
                                                                                     : mlir::Value();
  }
  auto product = subgraph.take<stablehlo::MulOp>(value);
  if (!product)
    return {};
  for (auto [sum, factor] :
       {std::pair(product.getLhs(), product.getRhs()), {product.getRhs(), product.getLhs()}})
    if (mlir::Value operand = reducedRows(sum, RowReduction::Sum, shape, subgraph))
      return isSplat(factor, 1.0 / static_cast<double>(shape.columns)) ? operand : mlir::Value();
  return {};
}

bool arePlaces(mlir::Value value, int64_t dimension) {
  if (auto iota = value.getDefiningOp<stablehlo::IotaOp>())
    return static_cast<int64_t>(iota.getIotaDimension()) == dimension;
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.getElementType().isSignlessInteger())
    return false;
  ArrayRef<int64_t> sizes = dimensionsOf(value);
  int64_t inner = llvm::product_of(sizes.drop_front(static_cast<size_t>(dimension) + 1));
  int64_t length = sizes[static_cast<size_t>(dimension)];
  return llvm::all_of(llvm::enumerate(elements.getValues<APInt>()), [&](auto each) {
    return each.value().getSExtValue() == static_cast<int64_t>(each.index()) / inner % length;
  });
}

mlir::Value squared(mlir::Value value, Subgraph &subgraph) {
  value = withoutWidening(value, subgraph);
  if (auto product = subgraph.take<stablehlo::MulOp>(value))
    return product.getLhs() == product.getRhs() ? product.getLhs() : mlir::Value();
  auto power = subgraph.take<stablehlo::PowOp>(value);
  return power && isSplat(power.getRhs(), 2) ? power.getLhs() : mlir::Value();
}

std::optional<Activation> activationOf(Operation *op, mlir::Value value) {
  if (isKernelCall(op, "gelu"))
    return Activation::Gelu;
  if (isKernelCall(op, "gelu_tanh"))
    return Activation::GeluTanh;
  if (isKernelCall(op, "silu"))
    return Activation::Silu;
  if (isa<stablehlo::TanhOp>(op))
    return Activation::Tanh;
  if (isa<stablehlo::LogisticOp>(op))
    return Activation::Sigmoid;
  if (auto most = dyn_cast<stablehlo::MaxOp>(op);
      most && isSplat(most.getLhs() == value ? most.getRhs() : most.getLhs(), 0))
    return Activation::Relu;
  if (auto clamp = dyn_cast<stablehlo::ClampOp>(op);
      clamp && clamp.getOperand() == value && isSplat(clamp.getMin(), 0) && isSplat(clamp.getMax(), 6))
    return Activation::Relu6;
  return std::nullopt;
}

bool isFloatTensor(mlir::Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  return element.isF32() || element.isF64() || element.isF16() || element.isBF16();
}

} // namespace torchere::cpu
