// Widens what lies between convolutions of bf16 and f16: it is computed in f32 from one convolution to the
// next and rounded where something else reads it, so that it can lie in blocks of channels, as in f32.
#include "cpu/frontend/fusion/convolution_chain.h"
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/narrow_values.h"
#include "cpu/frontend/fusion/splats.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

bool isF32(Value value) {
  return getElementTypeOrSelf(value.getType()).isF32();
}

bool isControl(Operation &op) {
  return isa<stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp>(op);
}

bool isReduction(Operation *op) {
  return isa<stablehlo::ReduceWindowOp, stablehlo::ReduceOp>(op) && op->getNumOperands() == 2;
}

/// A reduction in windows, or over images. Over a row it may be that of a norm, which products may follow.
bool isPooling(Operation *op) {
  if (!isReduction(op))
    return false;
  auto reduction = dyn_cast<stablehlo::ReduceOp>(op);
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  return !reduction || (type.getRank() >= 4 &&
                        static_cast<int64_t>(reduction.getDimensions().size()) == type.getRank() - 2);
}

bool keepsElements(Operation *op) {
  return isa_and_present<stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp, stablehlo::TransposeOp>(op);
}

bool isElementwiseOnFloats(Operation *op) {
  return isa<stablehlo::AbsOp, stablehlo::AddOp, stablehlo::Atan2Op, stablehlo::CbrtOp, stablehlo::CeilOp,
             stablehlo::ClampOp, stablehlo::CompareOp, stablehlo::CosineOp, stablehlo::DivOp,
             stablehlo::ExpOp, stablehlo::Expm1Op, stablehlo::FloorOp, stablehlo::IsFiniteOp,
             stablehlo::Log1pOp, stablehlo::LogOp, stablehlo::LogisticOp, stablehlo::MaxOp, stablehlo::MinOp,
             stablehlo::MulOp, stablehlo::NegOp, stablehlo::PowOp, stablehlo::RemOp, stablehlo::RoundOp,
             stablehlo::RoundNearestEvenOp, stablehlo::RsqrtOp, stablehlo::SelectOp, stablehlo::SignOp,
             stablehlo::SineOp, stablehlo::SqrtOp, stablehlo::SubtractOp, stablehlo::TanOp,
             stablehlo::TanhOp>(op);
}

/// Whether the op does in f32 what it does in a narrow type, up to rounding.
bool hasWideForm(Operation *op) {
  return keepsElements(op) || isElementwiseOnFloats(op) || isReduction(op) ||
         isa<stablehlo::ConcatenateOp, stablehlo::GatherOp, stablehlo::PadOp, stablehlo::ReverseOp,
             stablehlo::SliceOp>(op);
}

/// Whether it is one of a narrow type, which is computed in f32: its factors were widened, and what rounds
/// its result alone uses that. (The same around f32 weights may be meant.)
bool isNarrowConvolution(stablehlo::ConvolutionOp op) {
  auto isWidened = [](Value factor) { return withoutWidening(factor) != factor; };
  Value result = op->getResult(0);
  return isWidened(op.getLhs()) &&
         (isWidened(op.getRhs()) || op.getRhs().getDefiningOp<stablehlo::ConstantOp>()) &&
         result.hasOneUse() && isRounding(*result.user_begin());
}

class WideIslands {
public:
  explicit WideIslands(func::FuncOp function) : builder(function.getContext()) {
    findWanted(function.getBody().front());
    if (!inside.empty())
      visit(function.getBody().front());
  }
  int64_t count() const { return widened; }

private:
  void findWanted(Block &block);
  void visit(Block &block);
  void visitConversion(stablehlo::ConvertOp op);
  bool followsAlone(Operation *op);
  bool isWorthWidening(Operation *op);
  void widen(Operation *op);
  Value wideOf(Value value);

  OpBuilder builder;
  int64_t widened = 0;
  llvm::DenseSet<Value> wanted;      ///< values that convolutions and poolings are computed from
  llvm::DenseSet<Value> inside;      ///< of f32, computed from convolutions of a narrow type
  llvm::DenseMap<Value, Value> wide; ///< narrow values, unrounded
  FixedValues fixed;
};

/// Products, attention among them, read narrow values, so a search ends there.
void WideIslands::findWanted(Block &block) {
  for (Operation &op : llvm::reverse(block)) {
    if (isControl(op))
      for (Region &region : op.getRegions())
        findWanted(region.front());
    if (auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op);
        convolution && isNarrowConvolution(convolution)) {
      inside.insert(convolution->getResult(0));
      wanted.insert(convolution.getLhs());
    } else if (isPooling(&op)) {
      wanted.insert(op.getOperand(0));
    } else if (op.getNumResults() == 1 && wanted.contains(op.getResult(0)) &&
               (hasWideForm(&op) || isa<stablehlo::ConvertOp>(op))) {
      wanted.insert(op.operand_begin(), op.operand_end());
    }
  }
}

void WideIslands::visit(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isControl(op)) {
      for (Region &region : op.getRegions())
        visit(region.front());
    } else if (auto conversion = dyn_cast<stablehlo::ConvertOp>(op)) {
      visitConversion(conversion);
    } else if (isWorthWidening(&op)) {
      widen(&op);
    } else if (op.getNumResults() == 1 && isF32(op.getResult(0)) && hasWideForm(&op) &&
               llvm::any_of(op.getOperands(), [&](Value operand) { return inside.contains(operand); })) {
      inside.insert(op.getResult(0));
    }
  }
}

void WideIslands::visitConversion(stablehlo::ConvertOp op) {
  Value from = op.getOperand(), to = op->getResult(0);
  if (!isRounding(op))
    return;
  if (inside.contains(from)) {
    wide[to] = from;
    return;
  }
  auto isWidened = [&](Operation *user) { return isRounding(user) || isWorthWidening(user); };
  Value unrounded = wide.lookup(from);
  if (unrounded && (wanted.contains(from) || llvm::all_of(from.getUsers(), isWidened))) {
    to.replaceAllUsesWith(unrounded);
    ++widened;
  }
}

/// Whether nothing but islands and what is fixed is computed from, so that nothing is widened for it alone.
bool WideIslands::followsAlone(Operation *op) {
  return hasWideForm(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
           return !isNarrow(operand.getType()) || wide.contains(operand) || isFixed(operand, fixed);
         });
}

bool WideIslands::isWorthWidening(Operation *op) {
  auto isWide = [&](Value operand) { return wide.contains(operand); };
  return op->getNumResults() == 1 && hasWideForm(op) && llvm::any_of(op->getOperands(), isWide) &&
         (wanted.contains(op->getResult(0)) || isPooling(op) || followsAlone(op));
}

/// The value in f32.
Value WideIslands::wideOf(Value value) {
  if (!isNarrow(value.getType()))
    return value;
  if (Value found = wide.lookup(value))
    return found;
  auto type = cast<RankedTensorType>(value.getType());
  RankedTensorType wideType = type.clone(builder.getF32Type());
  if (std::optional<double> number = splatNumber(value))
    return splatOf(builder, value.getLoc(), wideType, *number);
  if (Operation *op = value.getDefiningOp(); keepsElements(op)) { // so that vectors of the channels are found
    Value source = wideOf(op->getOperand(0));
    Operation *made = builder.clone(*op);
    made->setOperand(0, source);
    made->getResult(0).setType(wideType);
    return made->getResult(0);
  }
  return stablehlo::ConvertOp::create(builder, value.getLoc(), wideType, value)->getResult(0);
}

void WideIslands::widen(Operation *op) {
  builder.setInsertionPoint(op);
  SmallVector<Value> operands =
      llvm::map_to_vector(op->getOperands(), [&](Value operand) { return wideOf(operand); });
  Value narrow = op->getResult(0);
  ++widened;
  if (!isNarrow(narrow.getType())) // a comparison
    return op->setOperands(operands);
  Operation *made = builder.clone(*op);
  made->setOperands(operands);
  Type element = builder.getF32Type();
  auto widenType = [&](Value value) {
    if (isNarrow(value.getType()))
      value.setType(cast<RankedTensorType>(value.getType()).clone(element));
  };
  widenType(made->getResult(0));
  made->walk([&](Block *body) {
    llvm::for_each(body->getArguments(), widenType);
    for (Operation &inner : *body)
      llvm::for_each(inner.getResults(), widenType);
  });
  inside.insert(made->getResult(0));
  auto rounded = stablehlo::ConvertOp::create(builder, op->getLoc(), narrow.getType(), made->getResult(0));
  wide[rounded->getResult(0)] = made->getResult(0);
  if (wanted.contains(narrow))
    wanted.insert(rounded->getResult(0));
  narrow.replaceAllUsesWith(rounded->getResult(0));
}

} // namespace

int64_t fuseWideIslands(func::FuncOp function) {
  return WideIslands(function).count();
}

} // namespace torchere::cpu
