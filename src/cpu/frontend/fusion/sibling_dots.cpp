// Products of one operand with weights become one product with all of these weights, of whose result each is
// a slice. The weights are put together where they are packed from, not in each call.
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/fusion/pattern.h"
#include "cpu/frontend/fusion/splats.h"
#include "stablehlo/argument_attributes.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// Values further from the arguments than this are not followed.
constexpr int maxWeightDepth = 16;

/// What is computed from marked weights and constants alone, at the top of the function.
class Weights {
public:
  explicit Weights(func::FuncOp function) : function(function) {}
  bool has(mlir::Value value, int depth = 0);
  /// Where ops on weights may be put that `op` uses.
  Operation *placeBefore(Operation *op) const { return top().findAncestorOpInBlock(*op); }
  /// Lets the weight be computed in front of the op, if it is not yet.
  void moveBefore(Operation *place, mlir::Value value);

private:
  Block &top() const { return func::FuncOp(function).front(); }

  func::FuncOp function;
  llvm::DenseMap<mlir::Value, bool> known;
};

bool Weights::has(mlir::Value value, int depth) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    unsigned index = argument.getArgNumber();
    auto mark = argument.getOwner() == &top()
                    ? function.getArgAttrOfType<BoolAttr>(index, stablehlo::weightAttribute)
                    : BoolAttr();
    return mark && mark.getValue() && !function.getArgAttr(index, stablehlo::donorAttribute) &&
           !function.getArgAttr(index, stablehlo::aliasingAttribute);
  }
  if (auto found = known.find(value); found != known.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  bool isPlain =
      isa<stablehlo::AddOp, stablehlo::BroadcastInDimOp, stablehlo::ConcatenateOp, stablehlo::ConstantOp,
          stablehlo::ConvertOp, stablehlo::DivOp, stablehlo::MulOp, stablehlo::NegOp, stablehlo::ReshapeOp,
          stablehlo::SliceOp, stablehlo::SubtractOp, stablehlo::TransposeOp>(op);
  bool isOfWeights =
      isPlain && depth < maxWeightDepth && op->getBlock() == &top() &&
      llvm::all_of(op->getOperands(), [&](mlir::Value operand) { return has(operand, depth + 1); });
  known[value] = isOfWeights;
  return isOfWeights;
}

void Weights::moveBefore(Operation *place, mlir::Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->isBeforeInBlock(place))
    return;
  for (mlir::Value operand : op->getOperands())
    moveBefore(place, operand);
  op->moveBefore(place);
}

/// A product of which nothing but weights is added to, and what follows.
struct Sibling {
  stablehlo::DotGeneralOp dot;
  mlir::Value bias;                ///< as many elements as the product has columns; null for none
  Operation *activation = nullptr; ///< which the merged product computes
  Activation kind = Activation::None;
  mlir::Value last; ///< what the slice replaces
};

/// The dimensions of the right factor that are not summed over; the first is the one that grows.
SmallVector<int64_t> columnDimensions(stablehlo::DotGeneralOp dot) {
  SmallVector<int64_t> columns;
  int64_t rank = static_cast<int64_t>(dimensionsOf(dot.getRhs()).size());
  for (int64_t i = 0; i < rank; ++i)
    if (!llvm::is_contained(dot.getDotDimensionNumbers().getRhsContractingDimensions(), i))
      columns.push_back(i);
  return columns;
}

/// Floats of one type, with columns and without batches of weights.
bool hasSiblingForm(stablehlo::DotGeneralOp dot) {
  Type element = getElementTypeOrSelf(dot.getLhs().getType());
  return isFloatTensor(dot.getLhs()) && getElementTypeOrSelf(dot.getRhs().getType()) == element &&
         getElementTypeOrSelf(dot->getResult(0).getType()) == element &&
         dot.getDotDimensionNumbers().getRhsBatchingDimensions().empty() && !columnDimensions(dot).empty() &&
         cast<RankedTensorType>(dot->getResult(0).getType()).getNumElements() > 0 &&
         cast<RankedTensorType>(dot.getRhs().getType()).getNumElements() > 0;
}

bool isOfVectorPrograms(Operation *op) {
  return isa<stablehlo::AddOp, stablehlo::ClampOp, stablehlo::ConvertOp, stablehlo::DivOp, stablehlo::ExpOp,
             stablehlo::LogisticOp, stablehlo::MaxOp, stablehlo::MinOp, stablehlo::MulOp, stablehlo::NegOp,
             stablehlo::SelectOp, stablehlo::SubtractOp, stablehlo::TanhOp>(op) ||
         isKernelCall(op, "silu") || isKernelCall(op, "gelu") || isKernelCall(op, "gelu_tanh") ||
         isKernelCall(op, "erf");
}

/// Whether a dimension of the shape begins at each `columns` elements: rows then need not be together.
bool keepsRows(ArrayRef<int64_t> shape, int64_t columns) {
  int64_t count = 1;
  for (size_t i = shape.size(); i > 0 && count < columns; --i)
    count *= shape[i - 1];
  return count == columns;
}

/// Whether all that the value is used by reads rows that lie apart as fast as rows that lie together.
/// `columns`: of a row, as long as the value has them together.
bool isReadByStrides(mlir::Value value, int64_t columns) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *op = use.getOwner();
    if (isOfVectorPrograms(op) || isa<stablehlo::DotGeneralOp>(op) || isKernelCall(op, "attention"))
      return true;
    if (isa<stablehlo::DynamicUpdateSliceOp, stablehlo::ScatterOp>(op))
      return use.getOperandNumber() != 0; // what is written
    if (isa<stablehlo::ReshapeOp>(op))
      return (columns == 0 || keepsRows(dimensionsOf(op->getResult(0)), columns)) &&
             isReadByStrides(op->getResult(0), columns);
    return isa<stablehlo::BroadcastInDimOp, stablehlo::ReverseOp, stablehlo::SliceOp, stablehlo::TransposeOp>(
               op) &&
           isReadByStrides(op->getResult(0), 0);
  });
}

/// The op that alone uses the value.
Operation *onlyUserInBlock(mlir::Value value) {
  Operation *user = value.hasOneUse() ? *value.user_begin() : nullptr;
  return user && user->getBlock() == value.getParentBlock() && user->getNumResults() == 1 ? user : nullptr;
}

/// Takes the bias and, where no elementwise op follows that computes it as well, the activation. None if the
/// product has a residual or a reader for which rows that lie apart are copied.
std::optional<Sibling> siblingOf(stablehlo::DotGeneralOp dot, Weights &weights) {
  if (!hasSiblingForm(dot) || !weights.has(dot.getRhs()))
    return std::nullopt;
  Sibling sibling;
  sibling.dot = dot;
  sibling.last = dot->getResult(0);
  RowShape row{static_cast<int64_t>(columnDimensions(dot).size()), 1};
  for (int64_t dimension : columnDimensions(dot))
    row.columns *= dimensionsOf(dot.getRhs())[static_cast<size_t>(dimension)];
  if (auto sum = dyn_cast_or_null<stablehlo::AddOp>(onlyUserInBlock(sibling.last))) {
    Subgraph broadcasts;
    sibling.bias = columnsOf(sum.getLhs() == sibling.last ? sum.getRhs() : sum.getLhs(), row, broadcasts);
    if (!sibling.bias || !weights.has(sibling.bias))
      return std::nullopt;
    sibling.last = sum->getResult(0);
    if (isa_and_nonnull<stablehlo::AddOp>(onlyUserInBlock(sibling.last))) // a residual
      return std::nullopt;
  }
  Operation *user = onlyUserInBlock(sibling.last);
  std::optional<Activation> kind = user ? activationOf(user, sibling.last) : std::nullopt;
  if (kind && !llvm::all_of(user->getResult(0).getUsers(), isOfVectorPrograms)) {
    sibling.activation = user;
    sibling.kind = *kind;
    sibling.last = user->getResult(0);
  }
  if (!isReadByStrides(sibling.last, row.columns))
    return std::nullopt;
  return sibling;
}

/// Whether one product gives both: weights that differ in their first column dimension alone.
bool areAlike(const Sibling &a, const Sibling &b) {
  stablehlo::DotGeneralOp first = a.dot, second = b.dot;
  if (first.getLhs() != second.getLhs() || first->getAttrDictionary() != second->getAttrDictionary() ||
      first.getRhs().getType().getRank() != second.getRhs().getType().getRank())
    return false;
  SmallVector<int64_t> sizes(dimensionsOf(second.getRhs()));
  auto grown = static_cast<size_t>(columnDimensions(first).front());
  sizes[grown] = dimensionsOf(first.getRhs())[grown];
  return ArrayRef(sizes) == dimensionsOf(first.getRhs()) && a.kind == b.kind;
}

class Merger {
public:
  Merger(func::FuncOp function, Weights &weights) : weights(weights), builder(function.getContext()) {}
  void merge(ArrayRef<Sibling> siblings);

private:
  mlir::Value concatenated(ArrayRef<mlir::Value> values, int64_t dimension);
  mlir::Value concatenatedBias(ArrayRef<Sibling> siblings);
  mlir::Value activated(mlir::Value whole, Operation *activation);
  void slice(mlir::Value whole, int64_t dimension, int64_t &start, const Sibling &sibling);

  Weights &weights;
  OpBuilder builder;
};

mlir::Value Merger::concatenated(ArrayRef<mlir::Value> values, int64_t dimension) {
  auto type = cast<RankedTensorType>(values.front().getType());
  SmallVector<int64_t> shape(type.getShape());
  int64_t size = 0;
  for (mlir::Value value : values)
    size += dimensionsOf(value)[static_cast<size_t>(dimension)];
  shape[static_cast<size_t>(dimension)] = size;
  return stablehlo::ConcatenateOp::create(builder, values.front().getLoc(), type.clone(shape), values,
                                          builder.getI64IntegerAttr(dimension))
      ->getResult(0);
}

/// In the shape of the columns; null if none has a bias.
mlir::Value Merger::concatenatedBias(ArrayRef<Sibling> siblings) {
  if (llvm::none_of(siblings, [](const Sibling &sibling) { return bool(sibling.bias); }))
    return {};
  SmallVector<mlir::Value> parts;
  for (const Sibling &sibling : siblings) {
    stablehlo::DotGeneralOp dot = sibling.dot;
    SmallVector<int64_t> shape;
    for (int64_t dimension : columnDimensions(dot))
      shape.push_back(dimensionsOf(dot.getRhs())[static_cast<size_t>(dimension)]);
    auto type = RankedTensorType::get(shape, getElementTypeOrSelf(dot.getType()));
    if (!sibling.bias) // x + -0 is x, also where that is -0
      parts.push_back(splatOf(builder, dot.getLoc(), type, -0.0));
    else if (sibling.bias.getType() == type)
      parts.push_back(sibling.bias);
    else
      parts.push_back(stablehlo::ReshapeOp::create(builder, dot.getLoc(), type, sibling.bias)->getResult(0));
  }
  return concatenated(parts, 0);
}

mlir::Value Merger::activated(mlir::Value whole, Operation *activation) {
  mlir::Value before = activation->getOperand(0);
  for (mlir::Value operand : activation->getOperands())
    if (!splatOf(operand))
      before = operand;
  Operation *made = builder.clone(*activation);
  for (OpOperand &operand : made->getOpOperands())
    if (operand.get() == before)
      operand.set(whole);
    else if (std::optional<double> number = splatNumber(operand.get());
             number && operand.get().getType() == before.getType())
      operand.set(splatOf(builder, made->getLoc(), cast<RankedTensorType>(whole.getType()), *number));
  made->getResult(0).setType(whole.getType());
  return made->getResult(0);
}

void Merger::slice(mlir::Value whole, int64_t dimension, int64_t &start, const Sibling &sibling) {
  auto type = cast<RankedTensorType>(sibling.last.getType());
  SmallVector<int64_t> starts(static_cast<size_t>(type.getRank())), ends(type.getShape()),
      steps(static_cast<size_t>(type.getRank()), 1);
  auto at = static_cast<size_t>(dimension);
  starts[at] = start;
  start += ends[at];
  ends[at] = start;
  mlir::Value part = stablehlo::SliceOp::create(
                         builder, sibling.last.getLoc(), type, whole, builder.getDenseI64ArrayAttr(starts),
                         builder.getDenseI64ArrayAttr(ends), builder.getDenseI64ArrayAttr(steps))
                         ->getResult(0);
  mlir::Value(sibling.last).replaceAllUsesWith(part);
}

void Merger::merge(ArrayRef<Sibling> siblings) {
  stablehlo::DotGeneralOp first = siblings.front().dot;
  Operation *place = weights.placeBefore(first);
  SmallVector<mlir::Value> factors;
  for (const Sibling &sibling : siblings) {
    stablehlo::DotGeneralOp dot = sibling.dot;
    factors.push_back(dot.getRhs());
    weights.moveBefore(place, factors.back());
    if (sibling.bias)
      weights.moveBefore(place, sibling.bias);
  }
  SmallVector<int64_t> columns = columnDimensions(first);
  builder.setInsertionPoint(place);
  mlir::Value factor = concatenated(factors, columns.front()), bias = concatenatedBias(siblings);
  builder.setInsertionPoint(first);
  SmallVector<int64_t> shape(dimensionsOf(first->getResult(0)));
  int64_t dimension = static_cast<int64_t>(shape.size() - columns.size());
  shape[static_cast<size_t>(dimension)] = dimensionsOf(factor)[static_cast<size_t>(columns.front())];
  auto type = cast<RankedTensorType>(first->getResult(0).getType()).clone(shape);
  Operation *dot = builder.clone(*first);
  dot->setOperand(1, factor);
  mlir::Value whole = dot->getResult(0);
  whole.setType(type);
  if (bias) {
    SmallVector<int64_t> to;
    for (int64_t i = dimension; i < static_cast<int64_t>(shape.size()); ++i)
      to.push_back(i);
    mlir::Value rows = stablehlo::BroadcastInDimOp::create(builder, first.getLoc(), type, bias,
                                                           builder.getDenseI64ArrayAttr(to))
                           ->getResult(0);
    whole = stablehlo::AddOp::create(builder, first.getLoc(), whole, rows)->getResult(0);
  }
  if (Operation *activation = siblings.front().activation)
    whole = activated(whole, activation);
  int64_t start = 0;
  for (const Sibling &sibling : siblings)
    slice(whole, dimension, start, sibling);
}

/// The products that become one with the first: between them is no product of other operands, so that results
/// are still in a cache when they are used.
SmallVector<Sibling> siblingsOf(const Sibling &first, Weights &weights) {
  SmallVector<Sibling> siblings{first};
  stablehlo::DotGeneralOp dot = first.dot;
  for (Operation *op = dot->getNextNode(); op; op = op->getNextNode()) {
    auto next = dyn_cast<stablehlo::DotGeneralOp>(op);
    bool isOther =
        next ? next.getLhs() != dot.getLhs()
             : isa<stablehlo::ConvolutionOp>(op) || op->getNumRegions() != 0 || isKernelCall(op, "attention");
    if (isOther)
      break;
    if (!next)
      continue;
    std::optional<Sibling> sibling = siblingOf(next, weights);
    if (sibling && areAlike(first, *sibling))
      siblings.push_back(*sibling);
  }
  return siblings;
}

} // namespace

int64_t fuseSiblingDots(func::FuncOp function) {
  Weights weights(function);
  Merger merger(function, weights);
  llvm::DenseSet<Operation *> merged;
  SmallVector<stablehlo::DotGeneralOp> dots;
  function.walk([&](stablehlo::DotGeneralOp dot) { dots.push_back(dot); });
  int64_t count = 0;
  for (stablehlo::DotGeneralOp dot : dots) {
    if (merged.contains(dot))
      continue;
    std::optional<Sibling> first = siblingOf(dot, weights);
    if (!first)
      continue;
    SmallVector<Sibling> siblings = siblingsOf(*first, weights);
    if (siblings.size() < 2)
      continue;
    for (const Sibling &sibling : siblings)
      merged.insert(sibling.dot);
    merger.merge(siblings);
    ++count;
  }
  if (count > 0)
    joinCommonValues(function); // weights that serve several places
  return count;
}

} // namespace torchere::cpu
