// Finds rotary embedding: x * cosines + rotated * sines, where the rotated halves of x change places and the
// first one its sign. The halves that changed places are a reversed view, and the sign is the sines', so that
// one vector program reads x, and no half is copied.
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/pattern.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// The last dimension's halves: which of them a slice takes, of what. None for other slices.
struct Half {
  mlir::Value whole;
  bool isSecond = false;
};
std::optional<Half> halfOf(mlir::Value value) {
  auto slice = value.getDefiningOp<stablehlo::SliceOp>();
  if (!slice)
    return std::nullopt;
  ArrayRef<int64_t> from = dimensionsOf(slice.getOperand()), to = dimensionsOf(value);
  size_t last = from.size() - 1;
  bool isHalf = from.back() == 2 * to.back() && from.drop_back() == to.drop_back() &&
                llvm::all_of(slice.getStrides(), [](int64_t stride) { return stride == 1; });
  int64_t start = slice.getStartIndices()[last];
  if (!isHalf || (start != 0 && start != to.back()))
    return std::nullopt;
  return Half{slice.getOperand(), start != 0};
}

/// x, where the value is its second half negated, and its first.
mlir::Value rotatedOf(mlir::Value value) {
  auto joined = value.getDefiningOp<stablehlo::ConcatenateOp>();
  if (!joined || !value.hasOneUse() || joined->getNumOperands() != 2 ||
      joined.getDimension() + 1 != dimensionsOf(value).size() || !isFloatTensor(value))
    return {};
  auto negated = joined->getOperand(0).getDefiningOp<stablehlo::NegOp>();
  std::optional<Half> second = negated ? halfOf(negated.getOperand()) : std::nullopt,
                      first = halfOf(joined->getOperand(1));
  bool isRotated = first && second && first->whole == second->whole && !first->isSecond && second->isSecond &&
                   first->whole.getType() == value.getType();
  return isRotated ? first->whole : mlir::Value();
}

/// The sum's parts.
struct RotaryMatch {
  mlir::Value x, cosines, sines;
};
std::optional<RotaryMatch> matchRotary(stablehlo::AddOp sum) {
  for (auto [plain, turned] : {std::pair(sum.getLhs(), sum.getRhs()), {sum.getRhs(), sum.getLhs()}}) {
    auto straight = plain.getDefiningOp<stablehlo::MulOp>(),
         across = turned.getDefiningOp<stablehlo::MulOp>();
    if (!straight || !across || !plain.hasOneUse() || !turned.hasOneUse())
      continue;
    for (auto [rotated, sines] :
         {std::pair(across.getLhs(), across.getRhs()), {across.getRhs(), across.getLhs()}})
      if (mlir::Value x = rotatedOf(rotated)) {
        if (straight.getLhs() == x)
          return RotaryMatch{x, straight.getRhs(), sines};
        if (straight.getRhs() == x)
          return RotaryMatch{x, straight.getLhs(), sines};
      }
  }
  return std::nullopt;
}

class Rotary {
public:
  /// The sum with each last dimension as two halves.
  void rewrite(stablehlo::AddOp sum, const RotaryMatch &match) {
    OpBuilder builder(sum);
    mlir::Value x = halves(builder, match.x);
    auto type = cast<RankedTensorType>(x.getType());
    mlir::Value turned = stablehlo::ReverseOp::create(builder, sum.getLoc(), type, x,
                                                      builder.getDenseI64ArrayAttr({type.getRank() - 2}));
    mlir::Value straight = stablehlo::MulOp::create(builder, sum.getLoc(), x, halves(builder, match.cosines));
    mlir::Value across =
        stablehlo::MulOp::create(builder, sum.getLoc(), turned, halves(builder, signedSines(match.sines)));
    mlir::Value made = stablehlo::AddOp::create(builder, sum.getLoc(), straight, across);
    sum->getResult(0).replaceAllUsesWith(
        stablehlo::ReshapeOp::create(builder, sum.getLoc(), sum.getType(), made)->getResult(0));
  }

private:
  static mlir::Value halves(OpBuilder &builder, mlir::Value value) {
    SmallVector<int64_t> shape(dimensionsOf(value));
    shape.back() /= 2;
    shape.insert(shape.end() - 1, 2);
    Type type = cast<RankedTensorType>(value.getType()).clone(shape);
    return stablehlo::ReshapeOp::create(builder, value.getLoc(), type, value);
  }

  /// The sines, those of the first half negated: in front of a broadcast, and once for all that read them.
  mlir::Value signedSines(mlir::Value sines) {
    auto [place, isNew] = made.try_emplace(sines);
    if (!isNew)
      return place->second;
    OpBuilder builder(sines.getContext());
    builder.setInsertionPointAfterValue(sines);
    auto spread = sines.getDefiningOp<stablehlo::BroadcastInDimOp>();
    bool isInFront =
        spread && !spread.getBroadcastDimensions().empty() &&
        dimensionsOf(spread.getOperand()).back() == dimensionsOf(sines).back() &&
        spread.getBroadcastDimensions().back() + 1 == static_cast<int64_t>(dimensionsOf(sines).size());
    mlir::Value result = isInFront ? signedSines(spread.getOperand()) : negatedHalf(builder, sines);
    if (isInFront)
      result = stablehlo::BroadcastInDimOp::create(builder, sines.getLoc(), sines.getType(), result,
                                                   spread.getBroadcastDimensionsAttr());
    return made[sines] = result;
  }

  static mlir::Value negatedHalf(OpBuilder &builder, mlir::Value sines) {
    auto type = cast<RankedTensorType>(sines.getType());
    int64_t size = type.getShape().back();
    SmallVector<Attribute> signs;
    for (int64_t i = 0; i < size; ++i)
      signs.push_back(builder.getFloatAttr(type.getElementType(), i < size / 2 ? -1 : 1));
    auto elements = DenseElementsAttr::get(RankedTensorType::get({size}, type.getElementType()), signs);
    mlir::Value each = stablehlo::ConstantOp::create(builder, sines.getLoc(), elements);
    mlir::Value all = stablehlo::BroadcastInDimOp::create(builder, sines.getLoc(), type, each,
                                                          builder.getDenseI64ArrayAttr({type.getRank() - 1}));
    return stablehlo::MulOp::create(builder, sines.getLoc(), sines, all);
  }

  llvm::DenseMap<mlir::Value, mlir::Value> made;
};

} // namespace

int64_t fuseRotary(func::FuncOp function) {
  Rotary rotary;
  int64_t count = 0;
  function.walk([&](stablehlo::AddOp sum) {
    std::optional<RotaryMatch> match =
        cast<RankedTensorType>(sum.getType()).hasStaticShape() ? matchRotary(sum) : std::nullopt;
    if (!match)
      return;
    rotary.rewrite(sum, *match);
    ++count;
  });
  return count;
}

} // namespace torchere::cpu
