// Implements the way from products of key heads to products of query heads, and back.
#include "cpu/frontend/fusion/grouped_heads.h"

#include "cpu/frontend/fusion/narrow_values.h"
#include "cpu/frontend/fusion/pattern.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// Whether the product's left factor, [batch][key head][query of several heads][element], meets the right one
/// in batch and head alone.
bool takesHeads(stablehlo::DotGeneralOp dot) {
  auto numbers = dot.getDotDimensionNumbers();
  const int64_t leading[] = {0, 1};
  return dimensionsOf(dot.getLhs()).size() == 4 && dimensionsOf(dot.getRhs()).size() == 4 &&
         numbers.getLhsBatchingDimensions() == ArrayRef(leading) &&
         numbers.getRhsBatchingDimensions() == ArrayRef(leading) &&
         numbers.getLhsContractingDimensions() == ArrayRef<int64_t>{3} &&
         numbers.getRhsContractingDimensions().size() == 1;
}

/// How many heads each of `few` is, if `many` has the same rows apart by heads; or 0.
int64_t headsOfEach(ArrayRef<int64_t> few, ArrayRef<int64_t> many) {
  bool isSplit = few.size() == 4 && many.size() == 4 && few[0] == many[0] && few[3] == many[3] &&
                 few[1] > 0 && many[1] % few[1] == 0 && few[2] == many[1] / few[1] * many[2];
  return isSplit && many[1] > few[1] ? many[1] / few[1] : 0;
}

/// The value's only user, if it is such an op.
template <class Op> Op onlyUserOf(mlir::Value value) {
  return value.hasOneUse() ? dyn_cast<Op>(*value.user_begin()) : Op();
}

/// The first product's result apart by heads: behind scales, masks and softmax.
stablehlo::ReshapeOp findScores(mlir::Value value) {
  for (int i = 0; i < 12; ++i) {
    Operation *op = value.getDefiningOp();
    if (!op || !op->hasOneUse())
      return {};
    if (auto reshape = dyn_cast<stablehlo::ReshapeOp>(op);
        reshape && reshape.getOperand().getDefiningOp<stablehlo::DotGeneralOp>() &&
        reshape.getOperand().hasOneUse())
      return reshape;
    if (auto select = dyn_cast<stablehlo::SelectOp>(op))
      value = splatOf(select.getOnTrue()) ? select.getOnFalse() : select.getOnTrue();
    else if (isa<stablehlo::AddOp, stablehlo::MulOp>(op))
      value = splatOf(op->getOperand(0)) || op->getOperand(0).getDefiningOp<stablehlo::BroadcastInDimOp>()
                  ? op->getOperand(1)
                  : op->getOperand(0);
    else if (isa<stablehlo::DivOp, stablehlo::ReshapeOp, stablehlo::TanhOp>(op) || isRounding(op))
      value = op->getOperand(0);
    else
      return {};
  }
  return {};
}

mlir::Value reshaped(OpBuilder &builder, mlir::Value from, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, getElementTypeOrSelf(from.getType()));
  while (auto reshape = from.getDefiningOp<stablehlo::ReshapeOp>())
    from = reshape.getOperand();
  return from.getType() == type
             ? from
             : mlir::Value(stablehlo::ReshapeOp::create(builder, from.getLoc(), type, from));
}

/// Each head `count` times, one after the other.
mlir::Value repeated(OpBuilder &builder, mlir::Value heads, int64_t count) {
  SmallVector<int64_t> shape(dimensionsOf(heads));
  shape.insert(shape.begin() + 2, count);
  auto type = RankedTensorType::get(shape, getElementTypeOrSelf(heads.getType()));
  mlir::Value spread = stablehlo::BroadcastInDimOp::create(builder, heads.getLoc(), type, heads,
                                                           builder.getDenseI64ArrayAttr({0, 1, 3, 4}));
  shape.erase(shape.begin() + 2);
  shape[1] *= count;
  auto joined = RankedTensorType::get(shape, getElementTypeOrSelf(heads.getType()));
  return stablehlo::ReshapeOp::create(builder, heads.getLoc(), joined, spread);
}

stablehlo::DotGeneralOp productOf(OpBuilder &builder, stablehlo::DotGeneralOp like, Type result,
                                  mlir::Value left, mlir::Value right) {
  return stablehlo::DotGeneralOp::create(builder, like.getLoc(), result, left, right,
                                         like.getDotDimensionNumbers(), like.getPrecisionConfigAttr(),
                                         like.getAlgorithmAttr());
}

/// Values that are computed for nobody any more.
void eraseUnused(mlir::Value value) {
  while (auto reshape = value.getDefiningOp<stablehlo::ReshapeOp>()) {
    if (!reshape->use_empty())
      return;
    value = reshape.getOperand();
    reshape->erase();
  }
}

Type withShape(mlir::Value like, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, getElementTypeOrSelf(like.getType()));
}

} // namespace

/// The product of all query heads.
mlir::Value GroupedHeads::put(stablehlo::DotGeneralOp dot, mlir::Value left, Type result, int64_t count) {
  OpBuilder builder(dot);
  mlir::Value few = dot.getRhs();
  products.push_back({productOf(builder, dot, result, left, repeated(builder, few, count)), few});
  return products.back().dot->getResult(0);
}

std::optional<GroupedHeads> GroupedHeads::spread(Operation *softmax) {
  stablehlo::ReshapeOp apart = findScores(softmax->getOperand(0));
  mlir::Value weights = softmax->getResult(0);
  if (auto narrow = onlyUserOf<stablehlo::ConvertOp>(weights); narrow && isRounding(narrow))
    weights = narrow->getResult(0);
  auto together = onlyUserOf<stablehlo::ReshapeOp>(weights);
  Type element = getElementTypeOrSelf(weights.getType());
  if (!apart || !together || !(element.isF32() || isNarrow(element)))
    return std::nullopt;
  auto first = apart.getOperand().getDefiningOp<stablehlo::DotGeneralOp>();
  auto second = onlyUserOf<stablehlo::DotGeneralOp>(together->getResult(0));
  if (!second || second.getLhs() != together->getResult(0) || !takesHeads(first) || !takesHeads(second))
    return std::nullopt;
  ArrayRef<int64_t> byHeads = dimensionsOf(apart->getResult(0));
  int64_t count = headsOfEach(dimensionsOf(first->getResult(0)), byHeads);
  if (count == 0 || dimensionsOf(softmax->getResult(0)) != byHeads ||
      dimensionsOf(together->getResult(0)) != dimensionsOf(first->getResult(0)))
    return std::nullopt;

  SmallVector<int64_t> queries(byHeads.drop_back()), values(byHeads.drop_back());
  queries.push_back(dimensionsOf(first.getLhs())[3]);
  values.push_back(dimensionsOf(second->getResult(0))[3]);
  GroupedHeads made;
  OpBuilder builder(first);
  mlir::Value left = first.getLhs();
  apart->getResult(0).replaceAllUsesWith(
      made.put(first, reshaped(builder, left, queries), apart->getResult(0).getType(), count));
  mlir::Value product = made.put(second, weights, withShape(second->getResult(0), values), count);
  builder.setInsertionPointAfter(product.getDefiningOp());
  auto split = onlyUserOf<stablehlo::ReshapeOp>(second->getResult(0));
  if (split && split->getResult(0).getType() == product.getType()) {
    split->getResult(0).replaceAllUsesWith(product);
    split->erase();
  } else {
    second->getResult(0).replaceAllUsesWith(
        stablehlo::ReshapeOp::create(builder, second.getLoc(), second->getResult(0).getType(), product));
  }
  second->erase();
  together->erase();
  apart->erase();
  first->erase();
  eraseUnused(left);
  return made;
}

void GroupedHeads::undo() {
  for (Product &each : products) {
    OpBuilder builder(each.dot);
    ArrayRef<int64_t> many = dimensionsOf(each.dot.getLhs()), few = dimensionsOf(each.few);
    int64_t heads = few[1], rows = many[1] / heads * many[2];
    mlir::Value left = reshaped(builder, each.dot.getLhs(), {many[0], heads, rows, many[3]});
    mlir::Value result = each.dot->getResult(0);
    Type type = withShape(result, {many[0], heads, rows, dimensionsOf(result)[3]});
    mlir::Value product = productOf(builder, each.dot, type, left, each.few)->getResult(0);
    result.replaceAllUsesWith(
        stablehlo::ReshapeOp::create(builder, each.dot.getLoc(), result.getType(), product));
    each.dot->erase();
  }
}

} // namespace torchere::cpu
