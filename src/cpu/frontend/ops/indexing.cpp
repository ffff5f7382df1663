// Plans gathers, what is interpolated from gathered elements, and scatters.
#include "cpu/execute/bisection_step.h"
#include "cpu/execute/gather_step.h"
#include "cpu/execute/gathered_sum_step.h"
#include "cpu/execute/interpolation_step.h"
#include "cpu/execute/scatter_steps.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/region_body.h"
#include "stablehlo/dialect.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// The roles of dimensions, which gather and scatter have under different names.
struct Roles {
  ArrayRef<int64_t> window;          ///< of the slices' tensor: within a slice
  ArrayRef<int64_t> collapsed;       ///< of the tensor: not in the slices' tensor
  ArrayRef<int64_t> tensorBatching;  ///< of the tensor, one for each of
  ArrayRef<int64_t> indicesBatching; ///< the indices
  ArrayRef<int64_t> map;             ///< of the tensor, one for each component of an index
  int64_t vector = 0;                ///< of the indices: the dimension of components
};

Roles rolesOf(stablehlo::GatherDimensionNumbersAttr numbers) {
  return {numbers.getOffsetDims(),          numbers.getCollapsedSliceDims(),
          numbers.getOperandBatchingDims(), numbers.getStartIndicesBatchingDims(),
          numbers.getStartIndexMap(),       numbers.getIndexVectorDim()};
}

Roles rolesOf(stablehlo::ScatterDimensionNumbersAttr numbers) {
  return {numbers.getUpdateWindowDims(),         numbers.getInsertedWindowDims(),
          numbers.getInputBatchingDims(),        numbers.getScatterIndicesBatchingDims(),
          numbers.getScatterDimsToOperandDims(), numbers.getIndexVectorDim()};
}

/// `slices` is a view of the result of a gather, or of the updates.
IndexedSlices slicesOf(const Roles &roles, const View &tensor, const View &indices, const View &slices) {
  IndexedSlices made;
  made.rank = static_cast<int>(tensor.shape.size());
  size_t nextWindow = 0;
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    made.dims[d] = tensor.shape[d];
    made.strides[d] = tensor.strides[d];
    made.sizes[d] = 1;
    auto dimension = static_cast<int64_t>(d);
    if (llvm::is_contained(roles.collapsed, dimension) || llvm::is_contained(roles.tensorBatching, dimension))
      continue;
    auto window = static_cast<size_t>(roles.window[nextWindow++]);
    made.sizes[d] = slices.shape[window];
    made.sliceStrides[d] = slices.strides[window];
  }
  size_t slicesDimension = 0;
  for (size_t d = 0; d < indices.shape.size(); ++d) {
    auto dimension = static_cast<int64_t>(d);
    if (dimension == roles.vector)
      continue;
    while (llvm::is_contained(roles.window, static_cast<int64_t>(slicesDimension)))
      ++slicesDimension;
    int batch = made.batchRank++;
    made.batchDims[batch] = indices.shape[d];
    made.indexStrides[batch] = indices.strides[d];
    made.batchStrides[batch] = slices.strides[slicesDimension++];
    made.batchTarget[batch] = -1;
    for (auto [ofTensor, ofIndices] : llvm::zip_equal(roles.tensorBatching, roles.indicesBatching))
      if (ofIndices == dimension)
        made.batchTarget[batch] = static_cast<int>(ofTensor);
  }
  made.components = static_cast<int>(roles.map.size());
  for (size_t i = 0; i < roles.map.size(); ++i)
    made.target[i] = static_cast<int>(roles.map[i]);
  if (roles.vector < static_cast<int64_t>(indices.shape.size()))
    made.componentStride = indices.strides[static_cast<size_t>(roles.vector)];
  return made;
}

bool hasIndexType(mlir::Value indices) {
  std::optional<DType> type = dtypeOf(indices);
  ElementType element = elementTypeOf(indices);
  return type && !isFloat(element) && !isComplex(element) && elementTypeInfo(element).bits >= 8;
}

bool fitsRank(std::initializer_list<mlir::Value> values) {
  return llvm::all_of(values, [](mlir::Value value) { return shapeOf(value).size() <= kMaxRank; });
}

/// Slices that lie in even steps are a view.
Result<bool> planEvenSlices(Planner &planner, Operation *op) {
  TORCHERE_ASSIGN(View view, planner.view(op->getOperand(0)));
  ArrayRef<int64_t> starts = kernelIntegers(op, "starts");
  ArrayRef<int64_t> steps = kernelIntegers(op, "steps");
  Sizes strides = std::exchange(view.strides, {});
  view.shape = shapeOf(op->getResult(0));
  for (size_t d = 0; d < strides.size(); ++d)
    view.offset += starts[d] * strides[d];
  for (size_t i = 0; i < view.shape.size(); ++i) {
    int64_t stride = 0;
    for (size_t d = 0; d < strides.size(); ++d)
      stride += steps[i * strides.size() + d] * strides[d];
    view.strides.push_back(view.shape[i] == 1 ? 0 : stride);
  }
  planner.bind(op->getResult(0), view);
  return true;
}

/// A gather, or a dynamic one, whose result tells the sizes of slices as well.
Result<bool> planGather(Planner &planner, Operation *op) {
  auto numbers = cast<stablehlo::GatherDimensionNumbersAttr>(op->getAttr("dimension_numbers"));
  mlir::Value operand = op->getOperand(0), starts = op->getOperand(1);
  bool isOfNothing = elementCount(shapeOf(operand)) == 0 && elementCount(shapeOf(op->getResult(0))) != 0;
  if (isOfNothing || !hasIndexType(starts) || !fitsRank({operand, starts, op->getResult(0)}))
    return false;
  TORCHERE_ASSIGN(View tensor, planner.view(operand));
  TORCHERE_ASSIGN(View indices, planner.view(starts));
  View result = planner.allocateInPlace(op->getResult(0));
  IndexedSlices slices = slicesOf(rolesOf(numbers), tensor, indices, result);
  slices.indexType = *dtypeOf(starts);
  std::vector<View> reads{tensor, indices};
  planner.emit(std::make_unique<GatherStep>(slices, tensor, indices, result), reads, {&result, 1});
  return true;
}

/// Of a gather's operands, then the indices and the weights of each tap, all of sizes that are known.
Result<bool> planGatheredSum(Planner &planner, Operation *op) {
  std::vector<View> taps;
  TORCHERE_ASSIGN(View tensor, planner.view(op->getOperand(0)));
  for (mlir::Value operand : op->getOperands().drop_front()) {
    TORCHERE_ASSIGN(View view, planner.viewDense(operand));
    taps.push_back(view);
  }
  View result = planner.allocate(op->getResult(0));
  auto numbers = cast<stablehlo::GatherDimensionNumbersAttr>(kernelAttribute(op, "dimension_numbers"));
  IndexedSlices slices = slicesOf(rolesOf(numbers), tensor, taps.front(), result);
  slices.indexType = *dtypeOf(op->getOperand(1));
  std::vector<View> reads{tensor};
  reads.insert(reads.end(), taps.begin(), taps.end());
  planner.emit(std::make_unique<GatheredSumStep>(slices, tensor, std::move(taps), result), reads,
               {&result, 1});
  return true;
}

std::optional<ScatterJoin> scatterJoinOf(Region &body) {
  return llvm::StringSwitch<std::optional<ScatterJoin>>(joinOf(body))
      .Case("replaces", ScatterJoin::Replace)
      .Case("stablehlo.add", ScatterJoin::Sum)
      .Case("stablehlo.multiply", ScatterJoin::Product)
      .Case("stablehlo.maximum", ScatterJoin::Max)
      .Case("stablehlo.minimum", ScatterJoin::Min)
      .Case("stablehlo.and", ScatterJoin::And)
      .Case("stablehlo.or", ScatterJoin::Or)
      .Default(std::nullopt);
}

/// Where a tensor is written: in its own memory if nobody needs that any more, or in a copy. Several tensors
/// of a scatter lie alike.
Result<View> target(Planner &planner, Operation *op, unsigned index, ArrayRef<View> reads,
                    ArrayRef<View> writes) {
  TORCHERE_ASSIGN(View tensor, planner.view(op->getOperand(index)));
  auto isThere = [&](const View &other) { return other.buffer == tensor.buffer; };
  bool mayLieSo = op->getNumResults() == 1 || isDense(tensor);
  if (mayLieSo && llvm::none_of(reads, isThere) && llvm::none_of(writes, isThere) &&
      planner.mayOverwrite(tensor, op)) {
    planner.bind(op->getResult(index), tensor);
    return tensor;
  }
  View copy = planner.allocate(op->getResult(index));
  TORCHERE_TRY(planner.emitCopy(tensor, copy));
  return copy;
}

bool keepsTypes(stablehlo::ScatterOp op) {
  Block &body = op->getRegion(0).front();
  size_t count = op->getNumResults();
  if (body.getNumArguments() != 2 * count || !hasIndexType(op->getOperand(static_cast<unsigned>(count))))
    return false;
  for (size_t i = 0; i < count; ++i) {
    std::optional<DType> type = dtypeOf(op->getResult(i));
    for (mlir::Value value : {op->getOperand(i), op->getOperand(count + 1 + i)})
      if (!type || dtypeOf(value) != type || !fitsRank({value}))
        return false;
    if (dtypeOf(body.getArgument(i)) != type || dtypeOf(body.getArgument(count + i)) != type)
      return false;
  }
  return fitsRank({op->getOperand(count)});
}

Result<bool> planScatter(Planner &planner, Operation *op) {
  auto scatter = cast<stablehlo::ScatterOp>(op);
  if (!keepsTypes(scatter))
    return false;
  size_t count = op->getNumResults();
  std::optional<ScatterJoin> join = scatterJoinOf(op->getRegion(0));
  std::optional<RegionProgram> program;
  bool hasKernel = join && hasScatter(*dtypeOf(op->getResult(0)), *join);
  if (!hasKernel && !(program = programOf(op->getRegion(0))))
    return false;
  Roles roles = rolesOf(scatter.getScatterDimensionNumbers());
  TORCHERE_ASSIGN(View indices, planner.view(op->getOperand(count)));
  std::vector<View> reads{indices}, captures, writes;
  std::vector<ScatterFoldStep::Operand> operands(count);
  for (size_t i = 0; i < count; ++i) {
    TORCHERE_ASSIGN(operands[i].updates, hasKernel ? planner.view(op->getOperand(count + 1 + i))
                                                   : planner.viewDense(op->getOperand(count + 1 + i)));
    reads.push_back(operands[i].updates);
  }
  for (mlir::Value capture : program ? program->captures : std::vector<mlir::Value>()) {
    TORCHERE_ASSIGN(View view, planner.view(capture));
    captures.push_back(view);
    reads.push_back(view);
  }
  TORCHERE_TRY(planner.flush());
  for (size_t i = 0; i < count; ++i) {
    TORCHERE_ASSIGN(operands[i].tensor, target(planner, op, static_cast<unsigned>(i), reads, writes));
    writes.push_back(operands[i].tensor);
  }
  ScatterFoldArgs fold;
  fold.slices = slicesOf(roles, operands[0].tensor, indices, operands[0].updates);
  fold.slices.indexType = *dtypeOf(op->getOperand(count));
  if (hasKernel) {
    ScatterArgs args;
    args.slices = fold.slices;
    args.type = *dtypeOf(op->getResult(0));
    args.join = *join;
    planner.emit(std::make_unique<ScatterStep>(args, writes[0], indices, operands[0].updates), reads, writes);
    return true;
  }
  for (size_t i = 0; i < count; ++i)
    fold.operands.push_back({*dtypeOf(op->getResult(i)), nullptr, nullptr});
  for (mlir::Value capture : program->captures)
    fold.captureTypes.push_back(*dtypeOf(capture));
  planner.emit(std::make_unique<ScatterFoldStep>(std::move(program->program), std::move(fold), indices,
                                                 std::move(operands), std::move(captures)),
               reads, writes);
  return true;
}

Result<bool> planInterpolation(Planner &planner, Operation *op) {
  std::vector<View> reads;
  for (mlir::Value operand : op->getOperands()) {
    TORCHERE_ASSIGN(View view, planner.viewDense(operand));
    reads.push_back(view);
  }
  View result = planner.allocate(op->getResult(0));
  int64_t axis = kernelInteger(op, "axis");
  planner.emit(std::make_unique<InterpolationStep>(
                   reads.front(), std::vector<View>(reads.begin() + 1, reads.end()), axis, result),
               reads, {&result, 1});
  return true;
}

Result<bool> planBisection(Planner &planner, Operation *op) {
  TORCHERE_ASSIGN(View tensor, planner.viewDense(op->getOperand(0)));
  TORCHERE_ASSIGN(View values, planner.viewDense(op->getOperand(1)));
  View result = planner.allocate(op->getResult(0));
  BisectionArgs args;
  args.type = *dtypeOf(op->getOperand(0));
  args.placeType = *dtypeOf(op->getResult(0));
  args.length = elementCount(tensor.shape);
  args.count = elementCount(values.shape);
  args.turns = kernelInteger(op, "turns");
  args.low = kernelInteger(op, "low");
  args.high = kernelInteger(op, "high");
  args.isStrict = kernelFlag(op, "strict");
  args.isLow = kernelFlag(op, "lowest");
  std::vector<View> reads{tensor, values};
  planner.emit(std::make_unique<BisectionStep>(args, tensor, values, result), reads, {&result, 1});
  return true;
}

} // namespace

void addIndexing(PlannerTable &table) {
  table.addCall("torchere_cpu.bisection", planBisection);
  table.addCall("torchere_cpu.even_slices", planEvenSlices);
  table.addCall("torchere_cpu.gathered_sum", planGatheredSum);
  table.addCall("torchere_cpu.interpolation", planInterpolation);
  table.add("stablehlo.dynamic_gather", planGather);
  table.add("stablehlo.gather", planGather);
  table.add("stablehlo.scatter", planScatter);
}

} // namespace torchere::cpu
