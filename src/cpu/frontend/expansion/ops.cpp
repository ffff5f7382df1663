// Expands ops that are made of others.
#include "cpu/frontend/expansion/expansion.h"
#include "cpu/frontend/expansion/sum.h"
#include "cpu/frontend/fusion/pattern.h"
#include "cpu/frontend/fusion/splats.h"
#include "passes/chlo/formula.h"
#include "stablehlo/dialect.h"

#include "mlir/IR/IRMapping.h"

#include <cmath>

using namespace mlir;

namespace torchere::cpu {

namespace {

using passes::Elements;
using passes::FormulaBuilder;

RankedTensorType rankedTypeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

Value broadcasted(OpBuilder &builder, Location location, Value value, Type type,
                  ArrayRef<int64_t> dimensions) {
  NamedAttribute mapping =
      builder.getNamedAttr("broadcast_dimensions", builder.getDenseI64ArrayAttr(dimensions));
  return stablehlo::BroadcastInDimOp::create(builder, location, TypeRange{type}, ValueRange{value}, {mapping})
      ->getResult(0);
}

/// The op with its result in another place: `dot` is a dot_general that sums over the last and the first.
void replaceDot(Operation *op) {
  OpBuilder builder(op);
  int64_t leftRank = rankedTypeOf(op->getOperand(0)).getRank();
  auto numbers = stablehlo::DotDimensionNumbersAttr::get(op->getContext(), {}, {}, {leftRank - 1}, {0});
  OperationState state(op->getLoc(), stablehlo::DotGeneralOp::getOperationName(), op->getOperands(),
                       op->getResultTypes());
  state.addAttribute("dot_dimension_numbers", numbers);
  if (Attribute precision = op->getAttr("precision_config"))
    state.addAttribute("precision_config", precision);
  op->replaceAllUsesWith(builder.create(state));
  op->erase();
}

/// Of the sizes that the static result tells as well.
void replaceDynamicIota(Operation *op) {
  OpBuilder builder(op);
  NamedAttribute dimension = builder.getNamedAttr("iota_dimension", op->getAttr("iota_dimension"));
  op->replaceAllUsesWith(builder.create(OperationState(op->getLoc(), stablehlo::IotaOp::getOperationName(),
                                                       {}, op->getResultTypes(), dimension)));
  op->erase();
}

/// The ops of the body on whole tensors instead of scalars. Nothing is done where the body has regions.
void replaceMap(Operation *op) {
  Block &body = op->getRegion(0).front();
  auto isScalarOp = [](Operation &inner) {
    return inner.getNumRegions() == 0 && llvm::all_of(inner.getResultTypes(), [](Type type) {
             auto tensor = dyn_cast<RankedTensorType>(type);
             return tensor && tensor.getRank() == 0;
           });
  };
  if (!llvm::all_of(body.without_terminator(), isScalarOp))
    return;
  OpBuilder builder(op);
  ArrayRef<int64_t> shape = rankedTypeOf(op->getResult(0)).getShape();
  auto spread = [&](Type type) {
    return RankedTensorType::get(shape, cast<RankedTensorType>(type).getElementType());
  };
  IRMapping mapping;
  mapping.map(body.getArguments(), op->getOperands());
  auto whole = [&](Value value) {
    if (!mapping.contains(value)) // from outside of the body
      mapping.map(value, broadcasted(builder, op->getLoc(), value, spread(value.getType()), {}));
    return mapping.lookup(value);
  };
  for (Operation &inner : body.without_terminator()) {
    bool isSource = inner.getNumOperands() == 0; // of constants, mostly
    for (Value operand : inner.getOperands())
      whole(operand);
    Operation *clone = builder.clone(inner, mapping);
    for (auto [from, to] : llvm::zip_equal(inner.getResults(), clone->getResults())) {
      if (!isSource)
        to.setType(spread(to.getType()));
      mapping.map(from,
                  isSource ? broadcasted(builder, op->getLoc(), to, spread(to.getType()), {}) : Value(to));
    }
  }
  op->getResult(0).replaceAllUsesWith(whole(body.getTerminator()->getOperand(0)));
  op->erase();
}

/// Whether it only leaves dimensions of size 1 out, as gradients of what was broadcast do.
bool keepsElements(stablehlo::ReduceOp op) {
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  if (op->getNumOperands() != 2 || !type || !type.hasStaticShape() ||
      !llvm::all_of(op.getDimensions(), [&](int64_t dimension) { return type.getDimSize(dimension) == 1; }) ||
      op->getResult(0).getType() != type.clone(rankedTypeOf(op->getResult(0)).getShape()))
    return false;
  Region &body = op->getRegion(0);
  Value initial = op->getOperand(1);
  std::optional<double> number = splatNumber(initial);
  bool isZero = isa<IntegerType>(type.getElementType()) ? integerOf(initial) == 0 : number == 0.0;
  return (appliesOnly(body, "stablehlo.add") && isZero) ||
         (appliesOnly(body, "stablehlo.maximum") && number == -HUGE_VAL) ||
         (appliesOnly(body, "stablehlo.minimum") && number == HUGE_VAL);
}

void replaceByReshape(stablehlo::ReduceOp op) {
  OpBuilder builder(op);
  op->getResult(0).replaceAllUsesWith(
      stablehlo::ReshapeOp::create(builder, op.getLoc(), op->getResult(0).getType(), op->getOperand(0))
          ->getResult(0));
  op->erase();
}

/// The formulas of batch norms, computed in f32 at least.
class BatchNorm {
public:
  explicit BatchNorm(Operation *op)
      : op(op), builder(op), location(op->getLoc()), formula(builder, location, op->getOperand(0)) {
    Type given = rankedTypeOf(op->getOperand(0)).getElementType();
    element = given.isF64() ? given : Type(builder.getF32Type());
    for (Value operand : op->getOperands())
      operands.push_back(formula.convert(operand, element));
    axis = cast<IntegerAttr>(op->getAttr("feature_index")).getInt();
    epsilon = cast<FloatAttr>(op->getAttr("epsilon")).getValueAsDouble();
    count = static_cast<double>(rankedTypeOf(operands[0]).getNumElements());
    count /= static_cast<double>(rankedTypeOf(operands[0]).getDimSize(static_cast<unsigned>(axis)));
  }

  void replace() {
    if (isa<stablehlo::BatchNormInferenceOp>(op))
      finish({normalized(operands[3], operands[4])});
    else if (isa<stablehlo::BatchNormTrainingOp>(op))
      replaceTraining();
    else
      replaceGradient();
  }

private:
  Elements elements(Value value) { return {formula, value}; }
  Elements spread(Value vector) {
    return elements(broadcasted(builder, location, vector, operands[0].getType(), {axis}));
  }
  Elements vector(Value value) { return {formula, value}; }

  /// The sum over all but the features.
  Value sum(Value values) {
    SmallVector<int64_t> dimensions;
    for (int64_t i = 0; i < rankedTypeOf(values).getRank(); ++i)
      if (i != axis)
        dimensions.push_back(i);
    return sumOver(builder, location, values, dimensions);
  }

  Value normalized(Value mean, Value variance) {
    Elements centered = elements(operands[0]) - spread(mean);
    Elements deviation = sqrt(vector(variance) + epsilon);
    return centered / spread(deviation) * spread(operands[1]) + spread(operands[2]);
  }

  void replaceTraining() {
    Value mean = vector(sum(operands[0])) / count;
    Elements centered = elements(operands[0]) - spread(mean);
    Value variance = vector(sum(centered * centered)) / count;
    finish({normalized(mean, variance), mean, variance});
  }

  void replaceGradient() {
    Elements centered = elements(operands[0]) - spread(operands[2]), outer = elements(operands[4]);
    Elements variance = vector(operands[3]) + epsilon;
    Value total = sum(outer), product = sum(outer * centered);
    Elements rest = outer * count - spread(total) - spread(product) * centered / spread(variance);
    Elements factor = vector(operands[1]) / sqrt(variance) / count;
    finish({spread(factor) * rest, vector(product) / sqrt(variance), total});
  }

  void finish(ArrayRef<Value> results) {
    for (auto [from, to] : llvm::zip_equal(op->getResults(), results))
      from.replaceAllUsesWith(formula.convert(to, rankedTypeOf(from).getElementType()));
    op->erase();
  }

  Operation *op;
  OpBuilder builder;
  Location location;
  FormulaBuilder formula;
  Type element;
  SmallVector<Value> operands;
  int64_t axis;
  double epsilon, count;
};

} // namespace

void expandOps(func::FuncOp function) {
  SmallVector<Operation *> found;
  function.walk([&](Operation *op) {
    if (isa<stablehlo::BatchNormGradOp, stablehlo::BatchNormInferenceOp, stablehlo::BatchNormTrainingOp,
            stablehlo::DotOp, stablehlo::DynamicIotaOp, stablehlo::MapOp, stablehlo::ReduceOp>(op))
      found.push_back(op);
  });
  for (Operation *op : found) {
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type || !type.hasStaticShape())
      continue;
    if (isa<stablehlo::DotOp>(op))
      replaceDot(op);
    else if (isa<stablehlo::DynamicIotaOp>(op))
      replaceDynamicIota(op);
    else if (isa<stablehlo::MapOp>(op))
      replaceMap(op);
    else if (auto reduction = dyn_cast<stablehlo::ReduceOp>(op)) {
      if (keepsElements(reduction))
        replaceByReshape(reduction);
    } else
      BatchNorm(op).replace();
  }
}

} // namespace torchere::cpu
