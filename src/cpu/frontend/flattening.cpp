// Implements flattenValues: one walk over the ops, in order.
#include "cpu/frontend/flattening.h"

#include "stablehlo/dialect.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

bool isFlat(Type type) {
  return !isa<TupleType, stablehlo::TokenType>(type);
}

/// The tensors of a type, in order: none of a token.
void addFlat(Type type, SmallVectorImpl<Type> &types) {
  if (auto tuple = dyn_cast<TupleType>(type)) {
    for (Type element : tuple.getTypes())
      addFlat(element, types);
  } else if (!isa<stablehlo::TokenType>(type)) {
    types.push_back(type);
  }
}

SmallVector<Type> flatTypes(TypeRange types) {
  SmallVector<Type> flat;
  for (Type type : types)
    addFlat(type, flat);
  return flat;
}

bool touches(Operation *op) {
  auto hasOther = [](TypeRange types) { return !llvm::all_of(types, isFlat); };
  return hasOther(op->getOperandTypes()) || hasOther(op->getResultTypes());
}

bool canDoWithout(Operation *op) {
  return isa<stablehlo::AfterAllOp, stablehlo::CreateTokenOp, stablehlo::TupleOp,
             stablehlo::GetTupleElementOp, stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp,
             stablehlo::OptimizationBarrierOp, stablehlo::ReturnOp>(op);
}

class Flattening {
public:
  void flatten(Region &region) {
    for (Block &block : region)
      for (Operation &op : llvm::make_early_inc_range(block))
        flatten(&op);
  }
  void eraseOld() {
    for (Operation *op : llvm::reverse(old))
      op->erase();
    for (Block *block : blocks)
      block->eraseArguments([](BlockArgument argument) { return !isFlat(argument.getType()); });
  }

private:
  SmallVector<Value> partsOf(ValueRange values) const {
    SmallVector<Value> flat;
    for (Value value : values) {
      if (isFlat(value.getType()))
        flat.push_back(value);
      else
        llvm::append_range(flat, parts.lookup(value));
    }
    return flat;
  }

  /// Lets the result stand for these tensors.
  void give(Value result, ArrayRef<Value> flat) {
    if (isFlat(result.getType()))
      result.replaceAllUsesWith(flat.front());
    else
      parts[result] = SmallVector<Value>(flat);
  }

  void giveAll(ValueRange results, ValueRange flat) {
    SmallVector<Value> left(flat);
    size_t next = 0;
    for (Value result : results) {
      size_t count = flatTypes(result.getType()).size();
      give(result, ArrayRef(left).slice(next, count));
      next += count;
    }
  }

  void flatten(Operation *op) {
    if (auto element = dyn_cast<stablehlo::GetTupleElementOp>(op)) {
      auto types = cast<TupleType>(element.getOperand().getType()).getTypes();
      size_t first = flatTypes(types.take_front(element.getIndex())).size();
      SmallVector<Value> whole = partsOf(element.getOperand());
      give(element, ArrayRef(whole).slice(first, flatTypes(element.getType()).size()));
      old.push_back(op);
    } else if (isa<stablehlo::TupleOp, stablehlo::AfterAllOp, stablehlo::CreateTokenOp>(op)) {
      give(op->getResult(0), partsOf(op->getOperands()));
      old.push_back(op);
    } else if (op->hasTrait<OpTrait::IsTerminator>()) {
      op->setOperands(partsOf(op->getOperands()));
    } else if (touches(op)) {
      rebuild(op);
    } else {
      for (Region &region : op->getRegions())
        flatten(region);
    }
  }

  /// The same op on tensors alone.
  void rebuild(Operation *op) {
    OperationState state(op->getLoc(), op->getName(), partsOf(op->getOperands()),
                         flatTypes(op->getResultTypes()), op->getAttrs());
    for (Region &region : op->getRegions())
      state.addRegion()->takeBody(region);
    OpBuilder builder(op);
    Operation *made = builder.create(state);
    for (Region &region : made->getRegions()) {
      flattenArguments(region.front());
      flatten(region);
    }
    giveAll(op->getResults(), made->getResults());
    old.push_back(op);
  }

  /// Adds the tensors of each argument in front of it.
  void flattenArguments(Block &block) {
    for (unsigned i = 0; i < block.getNumArguments(); ++i) {
      BlockArgument argument = block.getArgument(i);
      if (isFlat(argument.getType()))
        continue;
      SmallVector<Value> flat;
      for (Type type : flatTypes(argument.getType()))
        flat.push_back(block.insertArgument(i++, type, argument.getLoc()));
      parts[argument] = flat;
    }
    blocks.push_back(&block);
  }

  llvm::DenseMap<Value, SmallVector<Value>> parts; ///< of tuples and tokens
  SmallVector<Operation *> old;                    ///< in order; nothing but later ones uses them
  SmallVector<Block *> blocks;                     ///< with arguments to be erased
};

} // namespace

Status flattenValues(func::FuncOp function) {
  bool isFree = llvm::all_of(function.getArgumentTypes(), isFlat);
  Operation *found = nullptr;
  int64_t count = 0;
  function.walk([&](Operation *op) {
    count += touches(op);
    if (touches(op) && !canDoWithout(op))
      found = op;
  });
  if (found || !isFree || !llvm::all_of(function.getResultTypes(), isFlat))
    return fail(ErrorCode::Unimplemented, "tokens or tuples of {}",
                found ? found->getName().getStringRef().str() : "the program's own arguments or results");
  if (count == 0)
    return {};
  Flattening flattening;
  flattening.flatten(function.getBody());
  flattening.eraseOld();
  return {};
}

void replaceEntryTokens(func::FuncOp entry) {
  if (entry.isExternal() || !llvm::hasSingleElement(entry.getBody()))
    return;
  OpBuilder builder(entry.getBody());
  auto empty = RankedTensorType::get({0}, builder.getI1Type());
  auto isToken = [](Value value) { return isa<stablehlo::TokenType>(value.getType()); };
  for (BlockArgument argument : entry.getArguments())
    if (isToken(argument)) {
      OperationState state(entry.getLoc(), "stablehlo.create_token", {}, {argument.getType()}, {});
      argument.replaceAllUsesWith(builder.create(state)->getResult(0));
      argument.setType(empty);
    }
  Operation *end = entry.front().getTerminator();
  builder.setInsertionPoint(end);
  for (OpOperand &operand : end->getOpOperands())
    if (isToken(operand.get()))
      operand.set(stablehlo::ConstantOp::create(builder, end->getLoc(),
                                                DenseElementsAttr::get(empty, ArrayRef<bool>())));
  entry.setFunctionType(builder.getFunctionType(entry.front().getArgumentTypes(), end->getOperandTypes()));
}

} // namespace torchere::cpu
