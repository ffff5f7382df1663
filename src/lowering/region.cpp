// Ops with regions: each region is one block, filled through the Context.
#include "lowering/region.h"

#include "stablehlo/loop_attributes.h"

namespace torchere::lowering {

Status addFallibleRegion(Context &cx, mlir::OperationState &operation, mlir::TypeRange arguments,
                         llvm::function_ref<Result<Values>(mlir::ValueRange)> function) {
  auto *block = new mlir::Block;
  operation.addRegion()->push_back(block);
  block->addArguments(arguments, llvm::SmallVector<mlir::Location>(arguments.size(), cx.loc()));
  mlir::OpBuilder::InsertionGuard guard(cx.builder());
  cx.builder().setInsertionPointToStart(block);
  TORCHERE_ASSIGN(Values results, function(block->getArguments()));
  stablehlo::ReturnOp::create(cx.builder(), cx.loc(), results);
  return {};
}

void addRegion(Context &cx, mlir::OperationState &operation, mlir::TypeRange arguments,
               RegionFunction function) {
  (void)addFallibleRegion(cx, operation, arguments,
                          [&](mlir::ValueRange values) -> Result<Values> { return function(values); });
}

llvm::SmallVector<mlir::Type> elementTensors(mlir::ValueRange values) {
  llvm::SmallVector<mlir::Type> types;
  for (mlir::Value value : values)
    types.push_back(mlir::RankedTensorType::get({}, Context::elementType(value)));
  return types;
}

/// The op's results, recorded with the shapes of `values`.
static Values createLike(Context &cx, const mlir::OperationState &operation, const Values &values) {
  mlir::Operation *op = cx.builder().create(operation);
  Values results;
  for (auto [result, value] : llvm::zip(op->getResults(), values))
    results.push_back(cx.withShape(result, cx.shape(value)));
  return results;
}

Values sortTogether(Context &cx, const Values &values, int64_t axis, RegionFunction comesBefore) {
  mlir::OperationState operation(cx.loc(), stablehlo::SortOp::getOperationName());
  operation.addOperands(values);
  operation.addTypes(mlir::ValueRange(values).getTypes());
  operation.addAttribute("dimension", cx.builder().getI64IntegerAttr(axis));
  operation.addAttribute("is_stable", cx.builder().getBoolAttr(true));
  llvm::SmallVector<mlir::Type> pairs;
  for (mlir::Type type : elementTensors(values))
    pairs.append({type, type});
  addRegion(cx, operation, pairs, comesBefore);
  return createLike(cx, operation, values);
}

Values repeatWhile(Context &cx, const Values &values, RegionFunction condition, RegionFunction body) {
  mlir::OperationState operation(cx.loc(), stablehlo::WhileOp::getOperationName());
  operation.addOperands(values);
  mlir::TypeRange types = mlir::ValueRange(values).getTypes();
  operation.addTypes(types);
  addRegion(cx, operation, types, condition);
  addRegion(cx, operation, types, body);
  return createLike(cx, operation, values);
}

Values repeatTimes(Context &cx, mlir::Value count, const Values &values,
                   llvm::function_ref<Values(mlir::Value, const Values &)> body, llvm::StringRef computes) {
  Values carried = {cx.constant(int64_t{0}, DType::I32), count};
  carried.append(values);
  auto condition = [&](mlir::ValueRange state) {
    return Values{cx.compare(stablehlo::ComparisonDirection::LT, state[0], state[1])};
  };
  auto step = [&](mlir::ValueRange state) {
    mlir::Value one = cx.constant(int64_t{1}, DType::I32);
    Values results = {cx.elementwise<stablehlo::AddOp>({state[0], one}), state[1]};
    results.append(body(state[0], Values(state.begin() + 2, state.end())));
    return results;
  };
  Values done = repeatWhile(cx, carried, condition, step);
  if (!computes.empty())
    done[0].getDefiningOp()->setAttr(stablehlo::computesAttribute, cx.builder().getStringAttr(computes));
  return Values(done.begin() + 2, done.end());
}

} // namespace torchere::lowering
