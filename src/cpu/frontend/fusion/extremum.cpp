// Finds the places of extreme elements along a dimension: a reduction of values with their places, as JAX
// writes argmax, or the least place of the elements that equal the extreme one, as our exporter does.
// Likewise in windows, as our exporter writes pooling.
#include "cpu/kernels/extremum.h"
#include "cpu/frontend/fusion/affine_places.h"
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/fusion/pattern.h"
#include "cpu/kernels/window_extremum.h"
#include "stablehlo/element_type_conversion.h"

#include "mlir/IR/Matchers.h"

#include <array>
#include <cmath>
#include <limits>

using namespace mlir;

namespace torchere::cpu {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
/// JAX's regions have 10, pooling's 13. A value is read once for each op that uses it, which takes long for
/// many ops.
constexpr int64_t kMostRegionOps = 14;

/// What a region on two pairs of a value and a place gives for two pairs of numbers. Only comparisons,
/// choices and truth values are known: what such a region chooses depends on how its arguments compare alone.
class PairsReader {
public:
  PairsReader(Block &block, std::array<double, 4> numbers) : block(block), numbers(numbers) {}
  std::optional<double> read(mlir::Value value) const;

private:
  std::optional<double> compared(stablehlo::CompareOp op) const;

  Block &block;
  std::array<double, 4> numbers;
};

std::optional<double> PairsReader::compared(stablehlo::CompareOp op) const {
  std::optional<double> left = read(op.getLhs()), right = read(op.getRhs());
  if (!left || !right || op.getCompareType() == stablehlo::ComparisonType::TOTALORDER)
    return std::nullopt;
  switch (op.getComparisonDirection()) {
  case stablehlo::ComparisonDirection::EQ:
    return *left == *right;
  case stablehlo::ComparisonDirection::NE:
    return *left != *right;
  case stablehlo::ComparisonDirection::GE:
    return *left >= *right;
  case stablehlo::ComparisonDirection::GT:
    return *left > *right;
  case stablehlo::ComparisonDirection::LE:
    return *left <= *right;
  case stablehlo::ComparisonDirection::LT:
    return *left < *right;
  }
  return std::nullopt;
}

std::optional<double> PairsReader::read(mlir::Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == &block ? std::optional(numbers[argument.getArgNumber()]) : std::nullopt;
  bool isTruth = getElementTypeOrSelf(value.getType()).isInteger(1);
  if (DenseElementsAttr elements; isTruth && matchPattern(value, m_Constant(&elements)) && elements.isSplat())
    return elements.getSplatValue<bool>();
  Operation *op = value.getDefiningOp();
  if (op->getBlock() != &block)
    return std::nullopt;
  if (auto compare = dyn_cast<stablehlo::CompareOp>(op))
    return compared(compare);
  if (!isa<stablehlo::SelectOp, stablehlo::AndOp, stablehlo::OrOp>(op) ||
      !getElementTypeOrSelf(op->getOperand(0).getType()).isInteger(1))
    return std::nullopt;
  std::optional<double> first = read(op->getOperand(0)), second = read(op->getOperand(1));
  if (!first || !second)
    return std::nullopt;
  if (isa<stablehlo::AndOp>(op))
    return *first != 0 && *second != 0;
  if (isa<stablehlo::OrOp>(op))
    return *first != 0 || *second != 0;
  std::optional<double> third = read(op->getOperand(2));
  return !third ? std::nullopt : *first != 0 ? second : third;
}

/// Two pairs, and which of them the region is to give.
struct PairSample {
  double left, leftPlace, right, rightPlace;
  bool isFirst;
};
bool chooses(Block &block, ArrayRef<PairSample> samples) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(block.getArgument(0).getType()));
  OperandRange results = block.getTerminator()->getOperands();
  return llvm::all_of(samples, [&](const PairSample &sample) {
    if (!isFloat && (std::isnan(sample.left) || std::isnan(sample.right)))
      return true;
    PairsReader reader(block, {sample.left, sample.leftPlace, sample.right, sample.rightPlace});
    std::optional<double> value = reader.read(results[0]), place = reader.read(results[1]);
    double expected = sample.isFirst ? sample.left : sample.right;
    return value && place == (sample.isFirst ? sample.leftPlace : sample.rightPlace) &&
           (value == expected || (std::isnan(*value) && std::isnan(expected)));
  });
}

/// Whether the region joins pairs in the order of their places as the kernel does.
bool joinsPairs(Block &block, bool isLargest) {
  return chooses(block, {{1, 0, 2, 1, !isLargest},
                         {2, 0, 1, 1, isLargest},
                         {1, 0, 1, 1, true},
                         {kNan, 0, 1, 1, true},
                         {1, 0, kNan, 1, false},
                         {kNan, 0, kNan, 1, true}});
}

/// The same of windows, where the last NaN counts, and which begin with a pair of their own.
bool joinsWindows(Block &block, bool isLargest, double weakest, double firstPlace) {
  return chooses(block, {{1, 0, 2, 1, !isLargest},
                         {2, 0, 1, 1, isLargest},
                         {1, 0, 1, 1, true},
                         {kNan, 0, 1, 1, true},
                         {1, 0, kNan, 1, false},
                         {kNan, 0, kNan, 1, false},
                         {weakest, firstPlace, 1, 0, false},
                         {weakest, firstPlace, weakest, 0, false},
                         {weakest, firstPlace, kNan, 0, false}});
}

/// Whether all elements are the one that any other wins over, or equals.
bool isWeakest(mlir::Value value, bool isLargest) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return false;
  if (isa<FloatType>(elements.getElementType())) {
    APFloat number = elements.getSplatValue<APFloat>();
    return number.isInfinity() && number.isNegative() == isLargest;
  }
  APInt number = elements.getSplatValue<APInt>();
  return isLargest ? number.isMinSignedValue() : number.isMaxSignedValue();
}

/// Of a reduction along one dimension that is not empty, of a type that the kernel has; -1 for others.
int64_t reducedDimension(stablehlo::ReduceOp reduce) {
  auto type = cast<RankedTensorType>(reduce->getOperand(0).getType());
  if (reduce.getDimensions().size() != 1 || !type.hasStaticShape() || type.getNumElements() == 0)
    return -1;
  int64_t dimension = reduce.getDimensions()[0];
  return type.getDimSize(dimension) <= std::numeric_limits<int32_t>::max() ? dimension : -1;
}

std::optional<DType> elementsOf(mlir::Value value) {
  std::optional<ElementType> type = stablehlo::elementTypeOf(getElementTypeOrSelf(value.getType()));
  return type ? elementTypeInfo(*type).dtype : std::nullopt;
}

bool hasKernel(mlir::Value values, mlir::Value places) {
  std::optional<DType> type = elementsOf(values), placeType = elementsOf(places);
  return type && hasExtremum(*type) && (placeType == DType::I32 || placeType == DType::I64);
}

Operation *createCall(Operation *before, mlir::Value input, Type values, Type places, int64_t dimension,
                      bool isLargest) {
  OpBuilder builder(before);
  return createKernelCall(builder, before->getLoc(), "extremum", TypeRange{values, places}, input,
                          {builder.getNamedAttr("dimension", builder.getI64IntegerAttr(dimension)),
                           builder.getNamedAttr("largest", builder.getBoolAttr(isLargest))});
}

/// A reduction of values and their places.
bool fusePairs(stablehlo::ReduceOp reduce) {
  int64_t dimension = reduce->getNumOperands() == 4 ? reducedDimension(reduce) : -1;
  if (dimension < 0 || !hasKernel(reduce->getOperand(0), reduce->getOperand(1)) ||
      !arePlaces(reduce->getOperand(1), dimension) || splatOf(reduce->getOperand(3)) != 0)
    return false;
  Block &block = reduce->getRegion(0).front();
  if (std::distance(block.begin(), block.end()) > kMostRegionOps)
    return false;
  for (bool isLargest : {true, false}) {
    if (!isWeakest(reduce->getOperand(2), isLargest) || !joinsPairs(block, isLargest))
      continue;
    Operation *call = createCall(reduce, reduce->getOperand(0), reduce->getResult(0).getType(),
                                 reduce->getResult(1).getType(), dimension, isLargest);
    reduce->replaceAllUsesWith(call);
    return true;
  }
  return false;
}

/// Of windows, by dimension.
struct WindowSizes {
  SmallVector<int64_t> dims, strides, dilations, low;
  bool isPlain = true; ///< no dilated base

  explicit WindowSizes(stablehlo::ReduceWindowOp op) : dims(op.getWindowDimensions()), low(dims.size(), 0) {
    SmallVector<int64_t> ones(dims.size(), 1);
    strides.assign(op.getWindowStrides().value_or(ones));
    dilations.assign(op.getWindowDilations().value_or(ones));
    isPlain = op.getBaseDilations().value_or(ones) == ArrayRef<int64_t>(ones);
    if (auto padding = op->getAttrOfType<DenseIntElementsAttr>("padding"))
      for (size_t d = 0; d < dims.size(); ++d)
        low[d] = *(padding.value_begin<int64_t>() + 2 * d);
  }
};

/// Where planes begin: windows stay in the dimensions before, and the places are those in a plane.
std::optional<size_t> firstOfPlane(stablehlo::ReduceWindowOp op, const WindowSizes &sizes) {
  ArrayRef<int64_t> shape = dimensionsOf(op->getOperand(1)), made = dimensionsOf(op->getResult(0));
  std::optional<AffinePlaces> places = affinePlacesOf(op->getOperand(1));
  if (!places || places->start != 0 || !sizes.isPlain)
    return std::nullopt;
  size_t first = 0;
  while (first < shape.size() && sizes.dims[first] == 1 && sizes.strides[first] == 1 &&
         sizes.low[first] == 0 && made[first] == shape[first] && places->steps[first] == 0)
    ++first;
  int64_t step = 1;
  for (size_t d = shape.size(); d-- > first; step *= shape[d])
    if (places->steps[d] != (shape[d] == 1 ? 0 : step))
      return std::nullopt;
  bool isPlane = shape.size() - first <= kWindowRank && step <= std::numeric_limits<int32_t>::max();
  return isPlane ? std::optional(first) : std::nullopt;
}

Operation *createWindowCall(stablehlo::ReduceWindowOp op, const WindowSizes &sizes, size_t first,
                            bool isLargest, int64_t emptyPlace) {
  OpBuilder builder(op);
  auto integers = [&](StringRef name, ArrayRef<int64_t> list) {
    return builder.getNamedAttr(name, builder.getDenseI64ArrayAttr(list));
  };
  return createKernelCall(builder, op->getLoc(), "window_extremum", op->getResultTypes(), op->getOperand(0),
                          {integers("window", sizes.dims), integers("strides", sizes.strides),
                           integers("dilations", sizes.dilations), integers("padding", sizes.low),
                           builder.getNamedAttr("first", builder.getI64IntegerAttr(int64_t(first))),
                           builder.getNamedAttr("largest", builder.getBoolAttr(isLargest)),
                           builder.getNamedAttr("empty_place", builder.getI64IntegerAttr(emptyPlace))});
}

/// Windows of values and their places.
bool fuseWindows(stablehlo::ReduceWindowOp op) {
  if (op->getNumOperands() != 4 || !hasKernel(op->getOperand(0), op->getOperand(1)))
    return false;
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  Block &block = op->getRegion(0).front();
  DenseElementsAttr place;
  if (!type.hasStaticShape() || type.getNumElements() == 0 ||
      std::distance(block.begin(), block.end()) > kMostRegionOps ||
      !matchPattern(op->getOperand(3), m_Constant(&place)))
    return false;
  WindowSizes sizes(op);
  std::optional<size_t> first = firstOfPlane(op, sizes);
  int64_t emptyPlace = place.getSplatValue<APInt>().getSExtValue();
  bool isFloat = isa<FloatType>(type.getElementType());
  for (bool isLargest : {true, false}) {
    double strongest = isFloat ? std::numeric_limits<double>::infinity() : 0x1p63;
    if (!first || !isWeakest(op->getOperand(2), isLargest) ||
        !joinsWindows(block, isLargest, isLargest ? -strongest : strongest, static_cast<double>(emptyPlace)))
      continue;
    op->replaceAllUsesWith(createWindowCall(op, sizes, *first, isLargest, emptyPlace));
    return true;
  }
  return false;
}

/// The left operand of a comparison in that direction, and the right one; null for another value.
mlir::Value comparedWith(mlir::Value value, mlir::Value &other, stablehlo::ComparisonDirection direction) {
  auto compare = value.getDefiningOp<stablehlo::CompareOp>();
  if (!compare || compare.getComparisonDirection() != direction ||
      compare.getCompareType() == stablehlo::ComparisonType::TOTALORDER)
    return {};
  other = compare.getRhs();
  return compare.getLhs();
}

/// x, where the value tells which of its elements are the extreme ones, or NaN; and what they are.
mlir::Value extremeOnes(mlir::Value value, mlir::Value &extreme) {
  auto either = value.getDefiningOp<stablehlo::OrOp>();
  mlir::Value equal = either ? either.getLhs() : value;
  mlir::Value x = comparedWith(equal, extreme, stablehlo::ComparisonDirection::EQ);
  bool isFloat = x && isa<FloatType>(getElementTypeOrSelf(x.getType()));
  if (!x || isFloat != (either != nullptr))
    return {};
  mlir::Value other;
  bool hasNan = !either ||
                (comparedWith(either.getRhs(), other, stablehlo::ComparisonDirection::NE) == x && other == x);
  return hasNan ? x : mlir::Value();
}

/// The least place of the elements that are extreme.
bool fuseLeastPlace(stablehlo::ReduceOp reduce) {
  int64_t dimension = reduce->getNumOperands() == 2 ? reducedDimension(reduce) : -1;
  if (dimension < 0 || !appliesOnly(reduce->getRegion(0), "stablehlo.minimum") ||
      !isWeakest(reduce->getOperand(1), false))
    return false;
  auto choice = reduce->getOperand(0).getDefiningOp<stablehlo::SelectOp>();
  if (!choice || !arePlaces(choice.getOnTrue(), dimension) || !isWeakest(choice.getOnFalse(), false))
    return false;
  mlir::Value repeated, x = extremeOnes(choice.getPred(), repeated);
  auto extreme = x ? repeatedReduction(repeated, dimension) : stablehlo::ReduceOp();
  if (!extreme || extreme->getNumOperands() != 2 || extreme->getOperand(0) != x ||
      reducedDimension(extreme) != dimension || !hasKernel(x, choice.getOnTrue()))
    return false;
  Region &join = extreme->getRegion(0);
  bool isLargest = appliesOnly(join, "stablehlo.maximum");
  if ((!isLargest && !appliesOnly(join, "stablehlo.minimum")) ||
      !isWeakest(extreme->getOperand(1), isLargest))
    return false;
  Operation *call = createCall(extreme, x, extreme->getResult(0).getType(), reduce->getResult(0).getType(),
                               dimension, isLargest);
  extreme->getResult(0).replaceAllUsesWith(call->getResult(0));
  reduce->getResult(0).replaceAllUsesWith(call->getResult(1));
  return true;
}

} // namespace

int64_t fuseExtrema(func::FuncOp function) {
  SmallVector<stablehlo::ReduceOp> reductions;
  function.walk([&](stablehlo::ReduceOp op) { reductions.push_back(op); });
  SmallVector<stablehlo::ReduceWindowOp> windows;
  function.walk([&](stablehlo::ReduceWindowOp op) { windows.push_back(op); });
  return llvm::count_if(reductions,
                        [](stablehlo::ReduceOp op) { return fusePairs(op) || fuseLeastPlace(op); }) +
         llvm::count_if(windows, fuseWindows);
}

} // namespace torchere::cpu
