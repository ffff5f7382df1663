// The expansions of broadcasting ops: broadcasts, and the op without the prefix.
#include "passes/chlo/expansions.h"
#include "passes/chlo/formula.h"
#include "stablehlo/constraint.h"

using namespace mlir;

namespace torchere::passes {

namespace {

using stablehlo::ComparisonDirection;

/// The result's type, with the dimensions known from the operands or else those that the op declares.
RankedTensorType commonType(InferTypeOpInterface op) {
  auto declared = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<Type> inferred;
  if (failed(op.inferReturnTypes(op->getContext(), op->getLoc(), op->getOperands(),
                                 op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
                                 op->getRegions(), inferred)))
    return declared;
  SmallVector<int64_t> shape(cast<RankedTensorType>(inferred.front()).getShape());
  for (auto [size, known] : llvm::zip_equal(shape, declared.getShape()))
    if (!stablehlo::isKnown(size))
      size = known;
  return declared.clone(shape);
}

/// The shape that operands broadcast to, and the position of each operand's dimensions in it.
class Broadcast {
public:
  /// Aligned at the end; or, with `dimensions`, those are the positions of the operand of lower rank.
  Broadcast(OpBuilder &builder, Location location, ValueRange operands, RankedTensorType result,
            std::optional<ArrayRef<int64_t>> dimensions)
      : builder(builder), location(location), operands(operands), sizes(result.getShape()) {
    for (Value operand : operands) {
      int64_t rank = cast<RankedTensorType>(operand.getType()).getRank();
      bool isPlaced =
          dimensions && rank == static_cast<int64_t>(dimensions->size()) && rank != result.getRank();
      places.push_back(isPlaced
                           ? SmallVector<int64_t>(*dimensions)
                           : llvm::to_vector(llvm::seq<int64_t>(result.getRank() - rank, result.getRank())));
    }
  }

  /// Operand `index`, broadcast to the common shape.
  Value operand(size_t index) {
    Value value = operands[index];
    auto type = RankedTensorType::get(sizes, stablehlo::elementType(value.getType()));
    if (value.getType() == type && type.hasStaticShape())
      return value;
    if (type.hasStaticShape() && cast<RankedTensorType>(value.getType()).hasStaticShape())
      return stablehlo::BroadcastInDimOp::create(builder, location, type, value,
                                                 builder.getDenseI64ArrayAttr(places[index]));
    if (!shape)
      shape = commonShape();
    return stablehlo::DynamicBroadcastInDimOp::create(builder, location, type, value, shape,
                                                      builder.getDenseI64ArrayAttr(places[index]), {}, {});
  }

private:
  Value scalar(int32_t value) {
    return stablehlo::ConstantOp::create(
        builder, location, DenseIntElementsAttr::get(RankedTensorType::get({}, builder.getI32Type()), value));
  }

  /// The size of one dimension of the common shape: that of the operand whose size there is not 1.
  Value commonSize(int64_t dimension) {
    if (stablehlo::isKnown(sizes[dimension]))
      return scalar(sizes[dimension]);
    Value common;
    for (auto [operand, place] : llvm::zip_equal(operands, places)) {
      auto *found = llvm::find(place, dimension);
      if (found == place.end())
        continue;
      int64_t from = found - place.begin();
      if (cast<RankedTensorType>(operand.getType()).getDimSize(from) == 1)
        continue;
      Value size = stablehlo::GetDimensionSizeOp::create(builder, location, operand, from);
      if (!common) {
        common = size;
        continue;
      }
      Value isOne = stablehlo::CompareOp::create(builder, location, common, scalar(1),
                                                 ComparisonDirection::EQ, stablehlo::ComparisonType::SIGNED);
      common = stablehlo::SelectOp::create(builder, location, common.getType(), isOne, size, common);
    }
    return common ? common : scalar(1);
  }

  Value commonShape() {
    SmallVector<Value> parts;
    auto vector = RankedTensorType::get({1}, builder.getI32Type());
    for (int64_t dimension = 0; dimension < static_cast<int64_t>(sizes.size()); ++dimension)
      parts.push_back(stablehlo::ReshapeOp::create(builder, location, vector, commonSize(dimension)));
    return stablehlo::ConcatenateOp::create(builder, location, parts, 0);
  }

  OpBuilder &builder;
  Location location;
  ValueRange operands;
  ArrayRef<int64_t> sizes;
  SmallVector<SmallVector<int64_t>, 3> places;
  Value shape;
};

/// `Plain` on the broadcast operands, with the shape and element type of the declared result.
template <class Op, class Plain> void addBroadcast(Expansions &table) {
  addExpansion<Op>(table, [](Op op, OpBuilder &builder) -> FailureOr<Values> {
    RankedTensorType type = commonType(op);
    Broadcast broadcast(builder, op.getLoc(), op->getOperands(), type, op.getBroadcastDimensions());
    Value lhs = broadcast.operand(0), rhs = broadcast.operand(1);
    return Values{Plain::create(builder, op.getLoc(), TypeRange{type}, ValueRange{lhs, rhs},
                                ArrayRef<NamedAttribute>{})};
  });
}

FailureOr<Values> expandCompare(chlo::BroadcastCompareOp op, OpBuilder &builder) {
  Broadcast broadcast(builder, op.getLoc(), op->getOperands(), commonType(op), op.getBroadcastDimensions());
  Value lhs = broadcast.operand(0), rhs = broadcast.operand(1);
  return Values{
      stablehlo::CompareOp::create(builder, op.getLoc(), lhs, rhs, op.getComparisonDirection(),
                                   op.getCompareType().value_or(stablehlo::ComparisonType::NOTYPE))};
}

FailureOr<Values> expandSelect(chlo::BroadcastSelectOp op, OpBuilder &builder) {
  RankedTensorType type = commonType(op);
  Broadcast broadcast(builder, op.getLoc(), op->getOperands(), type, std::nullopt);
  // stablehlo.select takes a scalar as it is.
  Value pred = op.getPred().getType().getRank() == 0 ? Value(op.getPred()) : broadcast.operand(0);
  Value onTrue = broadcast.operand(1), onFalse = broadcast.operand(2);
  return Values{stablehlo::SelectOp::create(builder, op.getLoc(), type, pred, onTrue, onFalse)};
}

} // namespace

void addBroadcastExpansions(Expansions &table) {
  addBroadcast<chlo::BroadcastAddOp, stablehlo::AddOp>(table);
  addBroadcast<chlo::BroadcastAndOp, stablehlo::AndOp>(table);
  addBroadcast<chlo::BroadcastAtan2Op, stablehlo::Atan2Op>(table);
  addBroadcast<chlo::BroadcastComplexOp, stablehlo::ComplexOp>(table);
  addBroadcast<chlo::BroadcastDivOp, stablehlo::DivOp>(table);
  addBroadcast<chlo::BroadcastMaxOp, stablehlo::MaxOp>(table);
  addBroadcast<chlo::BroadcastMinOp, stablehlo::MinOp>(table);
  addBroadcast<chlo::BroadcastMulOp, stablehlo::MulOp>(table);
  addBroadcast<chlo::BroadcastNextAfterOp, chlo::NextAfterOp>(table);
  addBroadcast<chlo::BroadcastOrOp, stablehlo::OrOp>(table);
  addBroadcast<chlo::BroadcastPolygammaOp, chlo::PolygammaOp>(table);
  addBroadcast<chlo::BroadcastPowOp, stablehlo::PowOp>(table);
  addBroadcast<chlo::BroadcastRemOp, stablehlo::RemOp>(table);
  addBroadcast<chlo::BroadcastShiftLeftOp, stablehlo::ShiftLeftOp>(table);
  addBroadcast<chlo::BroadcastShiftRightArithmeticOp, stablehlo::ShiftRightArithmeticOp>(table);
  addBroadcast<chlo::BroadcastShiftRightLogicalOp, stablehlo::ShiftRightLogicalOp>(table);
  addBroadcast<chlo::BroadcastSubOp, stablehlo::SubtractOp>(table);
  addBroadcast<chlo::BroadcastXorOp, stablehlo::XorOp>(table);
  addBroadcast<chlo::BroadcastZetaOp, chlo::ZetaOp>(table);
  addExpansion<chlo::BroadcastCompareOp>(table, expandCompare);
  addExpansion<chlo::BroadcastSelectOp>(table, expandSelect);
}

} // namespace torchere::passes
