// Finds what is done to a product's result before anything else needs it: the bias, a residual, an
// activation.
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/fusion/narrow_values.h"
#include "cpu/frontend/fusion/pattern.h"
#include "passes/chlo/formula.h"
#include "passes/precision/products.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// A product's epilogue as it is found, op by op.
struct DotMatch {
  stablehlo::DotGeneralOp dot;
  RowShape rows;                      ///< the columns are those of the right factor
  SmallVector<mlir::Value, 2> biases; ///< of the columns; recurrent layers have two
  mlir::Value residual;
  Activation activation = Activation::None;
  mlir::Value last; ///< what the call computes, maybe in another shape
};

std::optional<RowShape> columnsOfDot(stablehlo::DotGeneralOp dot) {
  auto left = cast<RankedTensorType>(dot.getLhs().getType()),
       right = cast<RankedTensorType>(dot.getRhs().getType());
  auto result = cast<RankedTensorType>(dot->getResult(0).getType());
  Type element = left.getElementType();
  bool isHalf = element.isBF16() || element.isF16();
  bool hasKernel = isFloatTensor(dot.getLhs()) && right.getElementType() == element &&
                   (result.getElementType() == element || (isHalf && result.getElementType().isF32()));
  auto numbers = dot.getDotDimensionNumbers();
  RowShape shape;
  shape.trailing = right.getRank() - static_cast<int64_t>(numbers.getRhsContractingDimensions().size() +
                                                          numbers.getRhsBatchingDimensions().size());
  for (int64_t size : result.getShape().take_back(static_cast<size_t>(shape.trailing)))
    shape.columns *= size;
  auto isEmpty = [](RankedTensorType type) { return type.hasStaticShape() && type.getNumElements() == 0; };
  // Before sizes are bound, products that are none of attention's: that is found first.
  bool mayFuse =
      result.hasStaticShape() || (right.hasStaticShape() && numbers.getLhsBatchingDimensions().empty());
  if (!hasKernel || !mayFuse || shape.trailing == 0 || shape.columns < 2 || isEmpty(left) || isEmpty(right))
    return std::nullopt;
  return shape;
}

bool isStatic(const DotMatch &match) {
  return cast<RankedTensorType>(match.dot->getResult(0).getType()).hasStaticShape();
}

bool takeSum(stablehlo::AddOp sum, mlir::Value value, DotMatch &match) {
  if (match.activation != Activation::None)
    return false;
  mlir::Value other = sum.getLhs() == value ? sum.getRhs() : sum.getLhs();
  Subgraph broadcasts;
  mlir::Value columns = match.residual ? mlir::Value() : columnsOf(other, match.rows, broadcasts);
  if (columns == other && isNarrow(other.getType())) // of one row: a residual is read as it is
    columns = {};
  if (columns)
    match.biases.push_back(columns);
  else if (!match.residual && (isStatic(match) || other.getType() == match.dot.getType()))
    match.residual = other;
  else
    return false;
  return true;
}

/// The columns stay the last dimension.
bool passReshape(stablehlo::ReshapeOp reshape, DotMatch &match) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(reshape->getResult(0).getType()).getShape();
  if (shape.empty() || shape.back() != match.rows.columns)
    return false;
  match.rows.trailing = 1;
  return true;
}

void follow(DotMatch &match) {
  RowShape rows = match.rows;
  for (mlir::Value value = match.last; value.hasOneUse();) {
    Operation *user = *value.user_begin();
    if (user->getBlock() != match.dot->getBlock() || user->getNumResults() != 1)
      break;
    bool isReshape = isa<stablehlo::ReshapeOp>(user);
    if (auto reshape = dyn_cast<stablehlo::ReshapeOp>(user); reshape && !passReshape(reshape, match))
      break;
    if (auto sum = dyn_cast<stablehlo::AddOp>(user)) {
      if (!takeSum(sum, value, match))
        break;
    } else if (!isReshape) {
      std::optional<Activation> activation = activationOf(user, value);
      if (!activation || match.activation != Activation::None)
        break;
      match.activation = *activation;
    }
    value = user->getResult(0);
    if (!isReshape) { // a reshape at the end stays as it is
      match.last = value;
      rows = match.rows;
    }
  }
  match.rows = rows;
}

mlir::Value inShape(OpBuilder &builder, mlir::Value value, Type type) {
  return value.getType() == type
             ? value
             : mlir::Value(stablehlo::ReshapeOp::create(builder, value.getLoc(), type, value));
}

/// Their sum, in the type that products are computed in.
mlir::Value biasOf(OpBuilder &builder, const DotMatch &match) {
  mlir::Value sum;
  for (mlir::Value bias : match.biases) {
    Type element = getElementTypeOrSelf(bias.getType());
    bias = passes::FormulaBuilder(builder, bias.getLoc(), bias)
               .convert(bias, element.isF64() ? element : builder.getF32Type());
    sum = sum ? stablehlo::AddOp::create(builder, bias.getLoc(), sum, inShape(builder, bias, sum.getType()))
              : bias;
  }
  return sum;
}

/// Whether the value may be scores, of which attention is made once the sizes are bound.
bool isOfAttention(mlir::Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) { return isKernelCall(user, "softmax"); });
}

bool fuseDot(stablehlo::DotGeneralOp dot) {
  std::optional<RowShape> rows = columnsOfDot(dot);
  if (!rows)
    return false;
  DotMatch match;
  match.dot = dot;
  match.rows = *rows;
  match.last = dot->getResult(0);
  follow(match);
  if (match.last == dot->getResult(0))
    return false;
  Operation *root = match.last.getDefiningOp();
  mlir::Value sizes = isStatic(match) ? mlir::Value() : computedSizesOf(root);
  if (!isStatic(match) && (!sizes || isOfAttention(match.last)))
    return false;
  OpBuilder builder(root);
  SmallVector<mlir::Value> operands{dot.getLhs(), dot.getRhs()};
  if (!match.biases.empty())
    operands.push_back(biasOf(builder, match));
  if (match.residual)
    operands.push_back(inShape(builder, match.residual, dot.getType()));
  NamedAttribute attributes[] = {
      builder.getNamedAttr("activation", builder.getI64IntegerAttr(static_cast<int64_t>(match.activation))),
      builder.getNamedAttr("dot_dimension_numbers", dot.getDotDimensionNumbers()),
      builder.getNamedAttr("has_bias", builder.getBoolAttr(!match.biases.empty())),
      builder.getNamedAttr("keeps_denormals", builder.getBoolAttr(!passes::hasDefaultPrecision(dot)))};
  Type type = dot->getResult(0).getType();
  stablehlo::CustomCallOp made =
      sizes ? createOpenCall(builder, dot.getLoc(), "dot", type, operands, sizes, attributes)
            : createKernelCall(builder, dot.getLoc(), "dot", type, operands, attributes);
  mlir::Value call = made->getResult(0);
  match.last.replaceAllUsesWith(inShape(builder, call, match.last.getType()));
  return true;
}

} // namespace

int64_t fuseDots(func::FuncOp function) {
  int64_t count = 0;
  function.walk([&](stablehlo::DotGeneralOp dot) { count += fuseDot(dot); });
  return count;
}

} // namespace torchere::cpu
