// Implements the cut of programs into stages.
#include "cpu/frontend/staged_module.h"

#include "cpu/frontend/evaluated_module.h"
#include "cpu/frontend/weight_program.h"
#include "stablehlo/argument_attributes.h"
#include "stablehlo/dialect.h"
#include "stablehlo/element_type_conversion.h"
#include "stablehlo/module_implementation.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// More elements than a size has that is computed from.
constexpr int64_t kMostSizes = 64;

/// The operands that say what size the op's result has.
SmallVector<mlir::Value> sizeOperands(Operation *op) {
  using Values = SmallVector<mlir::Value>;
  return TypeSwitch<Operation *, Values>(op)
      .Case([](stablehlo::DynamicBroadcastInDimOp of) { return Values{of->getOperand(1)}; })
      .Case([](stablehlo::DynamicIotaOp of) { return Values{of->getOperand(0)}; })
      .Case([](stablehlo::DynamicReshapeOp of) { return Values{of->getOperand(1)}; })
      .Case([](stablehlo::DynamicGatherOp of) { return Values{of->getOperand(2)}; })
      .Case([](stablehlo::DynamicConvOp of) { return Values{of->getOperand(2)}; })
      .Case([](stablehlo::DynamicPadOp of) {
        return Values{of->getOperand(2), of->getOperand(3), of->getOperand(4)};
      })
      .Case([](stablehlo::RealDynamicSliceOp of) {
        return Values{of->getOperand(1), of->getOperand(2), of->getOperand(3)};
      })
      .Default(Values());
}

RankedTensorType storedStaticType(mlir::Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && !type.getEncoding() &&
                 stablehlo::storedTypeOf(type.getElementType())
             ? type
             : RankedTensorType();
}

/// A few integers.
bool mayBeSizes(mlir::Value value) {
  RankedTensorType type = storedStaticType(value);
  return type && type.getElementType().isIntOrIndex() && !type.getElementType().isInteger(1) &&
         type.getNumElements() > 0 && type.getNumElements() <= kMostSizes;
}

bool hasStoredTypes(Operation *op) {
  auto isStaticValue = [](mlir::Value value) { return storedStaticType(value) != nullptr; };
  return !op->walk([&](Operation *each) {
              bool plainBlocks = llvm::all_of(each->getRegions(), [&](Region &region) {
                return llvm::hasSingleElement(region) && llvm::all_of(region.getArguments(), isStaticValue);
              });
              return plainBlocks && llvm::all_of(each->getResults(), isStaticValue) ? WalkResult::advance()
                                                                                    : WalkResult::interrupt();
            }).wasInterrupted();
}

SmallVector<mlir::Value> readBy(Operation *op) {
  SmallVector<mlir::Value> values = capturesOf(op);
  values.append(op->operand_begin(), op->operand_end());
  return values;
}

/// By op of a function's block, how many are in front of it.
using PlacesOfOps = llvm::DenseMap<Operation *, size_t>;

/// A clone of the function, in which ops have the same places.
struct ClonedFunction {
  ClonedFunction(func::FuncOp function, const PlacesOfOps &places) : function(function), places(places) {
    for (Operation &op : function.front())
      ops.push_back(&op);
  }
  mlir::Value valueOf(mlir::Value original) {
    if (auto argument = dyn_cast<BlockArgument>(original))
      return function.getArgument(argument.getArgNumber());
    Operation *op = ops[places.at(original.getDefiningOp())];
    return op->getResult(cast<OpResult>(original).getResultNumber());
  }

  func::FuncOp function;
  const PlacesOfOps &places;    ///< in the original
  std::vector<Operation *> ops; ///< of its block, as they were cloned
};

/// What the function computes before any size that depends on data is known.
class StageCut {
public:
  explicit StageCut(func::FuncOp function);
  bool hasSizes() const { return !sizes.empty(); }
  void cutFirst(func::FuncOp function) const;
  void cutRest(func::FuncOp function) const;

private:
  enum class Stage : uint8_t {
    Any,   ///< from constants and weights alone: whichever reads it
    First, ///< known before
    Rest,
  };
  Stage stageOf(mlir::Value value) const;
  void findStages(func::FuncOp function);
  void findSizes(mlir::Value value);
  void findCarried(func::FuncOp function);

  llvm::DenseMap<mlir::Value, Stage> stages; ///< of values outside of regions
  llvm::DenseSet<mlir::Value> seen;
  llvm::SetVector<mlir::Value> sizes, carried;
  PlacesOfOps places;
  std::vector<Stage> stageOfOp;
};

StageCut::StageCut(func::FuncOp function) {
  findStages(function);
  for (auto [op, stage] : llvm::zip(function.front(), stageOfOp))
    if (stage == Stage::Rest)
      op.walk([&](Operation *nested) {
        for (mlir::Value size : sizeOperands(nested))
          findSizes(size);
      });
  findCarried(function);
}

/// Values in regions belong to the op that has these.
StageCut::Stage StageCut::stageOf(mlir::Value value) const {
  auto found = stages.find(value);
  return found == stages.end() ? Stage::Rest : found->second;
}

void StageCut::findStages(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    auto mark = function.getArgAttrOfType<BoolAttr>(argument.getArgNumber(), stablehlo::weightAttribute);
    stages[argument] = mark && mark.getValue() ? Stage::Any : Stage::First;
  }
  for (Operation &op : function.front()) {
    Stage stage = Stage::Rest;
    if (!op.hasTrait<OpTrait::IsTerminator>() && hasStoredTypes(&op)) {
      stage = isRepeatable(&op) && !isa<stablehlo::RngOp>(op) ? Stage::Any : Stage::First;
      for (mlir::Value value : readBy(&op))
        stage = std::max(stage, stageOf(value));
    }
    places[&op] = stageOfOp.size();
    stageOfOp.push_back(stage);
    for (mlir::Value result : op.getResults())
      stages[result] = stage;
  }
}

/// Of what a size is computed from, what is known before.
void StageCut::findSizes(mlir::Value value) {
  SmallVector<mlir::Value> open{value};
  while (!open.empty()) {
    mlir::Value next = open.pop_back_val();
    if (!mayBeSizes(next) || !seen.insert(next).second)
      continue;
    Operation *op = next.getDefiningOp();
    if (stageOf(next) != Stage::Rest) {
      if (!isa_and_nonnull<stablehlo::ConstantOp>(op))
        sizes.insert(next);
    } else if (op && !isa<stablehlo::GetDimensionSizeOp>(op)) {
      open.append(op->operand_begin(), op->operand_end());
    }
  }
}

void StageCut::findCarried(func::FuncOp function) {
  for (auto [op, stage] : llvm::zip(function.front(), stageOfOp))
    if (stage == Stage::Rest)
      for (mlir::Value value : readBy(&op))
        if (value.getDefiningOp() && stageOf(value) == Stage::First && !sizes.contains(value))
          carried.insert(value);
}

/// The elements of the value, 0-d each.
SmallVector<mlir::Value> elementsOf(OpBuilder &builder, mlir::Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t count = type.getNumElements();
  Type element = type.getElementType();
  value =
      stablehlo::ReshapeOp::create(builder, value.getLoc(), RankedTensorType::get({count}, element), value);
  SmallVector<mlir::Value> elements;
  for (int64_t i = 0; i < count; ++i) {
    mlir::Value slice =
        stablehlo::SliceOp::create(builder, value.getLoc(), RankedTensorType::get({1}, element), value,
                                   builder.getDenseI64ArrayAttr({i}), builder.getDenseI64ArrayAttr({i + 1}),
                                   builder.getDenseI64ArrayAttr({1}));
    elements.push_back(
        stablehlo::ReshapeOp::create(builder, value.getLoc(), RankedTensorType::get({}, element), slice));
  }
  return elements;
}

mlir::Value joinElements(OpBuilder &builder, RankedTensorType type, ValueRange elements) {
  Location place = elements.front().getLoc();
  auto one = RankedTensorType::get({1}, type.getElementType());
  auto all = RankedTensorType::get({type.getNumElements()}, type.getElementType());
  SmallVector<mlir::Value> parts;
  for (mlir::Value element : elements)
    parts.push_back(stablehlo::ReshapeOp::create(builder, place, one, element));
  mlir::Value joined =
      stablehlo::ConcatenateOp::create(builder, place, all, parts, builder.getI64IntegerAttr(0));
  return stablehlo::ReshapeOp::create(builder, place, type, joined);
}

/// Its arguments are read again by the rest: it writes none.
void StageCut::cutFirst(func::FuncOp function) const {
  ClonedFunction clone(function, places);
  const std::vector<Operation *> &ops = clone.ops;
  Operation *end = ops.back();
  OpBuilder builder(end);
  SmallVector<mlir::Value> results;
  for (mlir::Value size : sizes)
    results.append(elementsOf(builder, clone.valueOf(size)));
  for (mlir::Value value : carried)
    results.push_back(clone.valueOf(value));
  end->setOperands(results);
  for (size_t i = ops.size() - 1; i-- > 0;)
    if (stageOfOp[i] == Stage::Rest)
      ops[i]->erase();
  function.removeResAttrsAttr();
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    for (const char *mark : stablehlo::donationAttributes)
      function.removeArgAttr(index, mark);
  function.setType(FunctionType::get(function.getContext(), function.getArgumentTypes(),
                                     llvm::to_vector(ValueRange(results).getTypes())));
}

void StageCut::cutRest(func::FuncOp function) const {
  ClonedFunction clone(function, places);
  const std::vector<Operation *> &ops = clone.ops;
  OpBuilder builder(ops.front());
  NamedAttribute mark(builder.getStringAttr(stablehlo::sizeAttribute), builder.getBoolAttr(true));
  auto addArgument = [&](Type type, Location place, DictionaryAttr attributes) {
    unsigned index = function.getNumArguments();
    (void)function.insertArgument(index, type, attributes, place);
    return mlir::Value(function.getArgument(index));
  };
  for (mlir::Value original : sizes) {
    mlir::Value size = clone.valueOf(original);
    auto type = cast<RankedTensorType>(size.getType());
    SmallVector<mlir::Value> elements;
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      elements.push_back(addArgument(RankedTensorType::get({}, type.getElementType()), size.getLoc(),
                                     builder.getDictionaryAttr(mark)));
    size.replaceAllUsesWith(joinElements(builder, type, elements));
  }
  for (mlir::Value original : carried) {
    mlir::Value value = clone.valueOf(original);
    value.replaceAllUsesWith(addArgument(value.getType(), value.getLoc(), {}));
  }
  for (size_t i = ops.size() - 1; i-- > 0;)
    if (stageOfOp[i] == Stage::First)
      ops[i]->erase();
}

} // namespace

std::optional<StagedModule> splitStages(const stablehlo::Module &module) {
  auto entryOf = [](const stablehlo::Module &of) {
    ModuleOp op = *of.implementation().module;
    return *op.getOps<func::FuncOp>().begin();
  };
  StageCut cut(entryOf(module));
  if (!cut.hasSizes())
    return std::nullopt;
  StagedModule staged{module.clone(), module.clone()};
  cut.cutFirst(entryOf(staged.first));
  cut.cutRest(entryOf(staged.rest));
  return staged;
}

} // namespace torchere::cpu
