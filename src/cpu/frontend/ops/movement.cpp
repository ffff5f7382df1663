// Plans constants and what moves elements: most of it as views.
#include "cpu/execute/computed_place_steps.h"
#include "cpu/execute/slice_step.h"
#include "cpu/frontend/complex_elements.h"
#include "cpu/frontend/planner.h"
#include "evaluation/constants.h"
#include "interpreter/mlir_values.h"
#include "stablehlo/dialect.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// A splat is one element, repeated.
Result<bool> planConstant(Planner &planner, Operation *op) {
  auto elements = cast<ElementsAttr>(op->getAttr("value"));
  Result<evaluation::Tensor> tensor = evaluation::tensorOf(elements);
  if (!tensor)
    return false;
  if (elements.isSplat() && tensor->count() > 1) {
    View one =
        planner.constant(tensor->type(), {},
                         tensor->bytes().first(static_cast<size_t>(elementTypeInfo(tensor->type()).bytes())));
    planner.bind(op->getResult(0), broadcast(one, tensor->shape(), {}));
  } else {
    planner.bind(op->getResult(0), planner.constant(tensor->type(), tensor->shape(), tensor->bytes()));
  }
  return true;
}

Result<bool> planBroadcast(Planner &planner, Operation *op) {
  TORCHERE_ASSIGN(View view, planner.view(op->getOperand(0)));
  planner.bind(op->getResult(0),
               broadcast(view, shapeOf(op->getResult(0)), integersOf(op, "broadcast_dimensions")));
  return true;
}

Result<bool> planReshape(Planner &planner, Operation *op) {
  TORCHERE_ASSIGN(View view, planner.view(op->getOperand(0)));
  Sizes shape = shapeOf(op->getResult(0));
  std::optional<View> same = reshaped(view, shape);
  if (!same) {
    TORCHERE_ASSIGN(View dense, planner.viewDense(op->getOperand(0)));
    same = reshaped(dense, shape);
  }
  planner.bind(op->getResult(0), *same);
  return true;
}

/// Complex numbers as their parts, in a dimension more.
Result<bool> planJoinedParts(Planner &planner, Operation *op) {
  TORCHERE_ASSIGN(View numbers, planner.view(op->getOperand(0)));
  View parts = partsView(numbers, /*isImaginary=*/false);
  parts.shape.push_back(2);
  parts.strides.push_back(1);
  planner.bind(op->getResult(0), parts);
  return true;
}

Result<bool> planTranspose(Planner &planner, Operation *op) {
  TORCHERE_ASSIGN(View view, planner.view(op->getOperand(0)));
  planner.bind(op->getResult(0), transposed(view, integersOf(op, "permutation")));
  return true;
}

Result<bool> planSlice(Planner &planner, Operation *op) {
  TORCHERE_ASSIGN(View view, planner.view(op->getOperand(0)));
  planner.bind(op->getResult(0), sliced(view, integersOf(op, "start_indices"), shapeOf(op->getResult(0)),
                                        integersOf(op, "strides")));
  return true;
}

Result<bool> planReverse(Planner &planner, Operation *op) {
  TORCHERE_ASSIGN(View view, planner.view(op->getOperand(0)));
  planner.bind(op->getResult(0), reversed(view, integersOf(op, "dimensions")));
  return true;
}

/// The same value under another name.
Result<bool> planBarrier(Planner &planner, Operation *op) {
  for (auto [operand, value] : llvm::zip_equal(op->getOperands(), op->getResults())) {
    TORCHERE_ASSIGN(View view, planner.view(operand));
    planner.bind(value, view);
  }
  return true;
}

/// An earlier concatenation of the first of these parts, which becomes the beginning of this one: features
/// that grow from layer to layer are never copied. Returns how many parts it has.
size_t layPrefix(Planner &planner, const std::vector<View> &parts, const View &whole) {
  for (const Planner::Concatenation &earlier : llvm::reverse(planner.laidOut()))
    if (earlier.parts.size() < parts.size() &&
        std::equal(earlier.parts.begin(), earlier.parts.end(), parts.begin()) &&
        planner.layInto(earlier.whole, whole, 0))
      return earlier.parts.size();
  return 0;
}

/// Parts that lie one after the other are computed there, where that is possible, and copied elsewhere.
Result<bool> planConcatenate(Planner &planner, Operation *op) {
  auto dimension = static_cast<size_t>(cast<IntegerAttr>(op->getAttr("dimension")).getInt());
  std::vector<View> parts;
  for (mlir::Value operand : op->getOperands()) {
    TORCHERE_ASSIGN(View part, planner.view(operand));
    parts.push_back(part);
  }
  View whole = planner.wholeOf(op);
  planner.bind(op->getResult(0), whole);
  bool isInRow = isDense(whole) && hasPartsInRow(whole.shape, dimension);
  size_t laid = isInRow ? layPrefix(planner, parts, whole) : 0;
  Sizes starts(whole.shape.size()), steps(whole.shape.size(), 1);
  for (size_t i = 0; i < parts.size(); ++i) {
    View place = sliced(whole, starts, parts[i].shape, steps);
    starts[dimension] += parts[i].shape[dimension];
    bool isThere = parts[i].buffer == place.buffer && parts[i].offset == place.offset;
    if (!isThere && i >= laid && !(isInRow && planner.layInto(parts[i], whole, place.offset)))
      TORCHERE_TRY(planner.emitCopy(parts[i], place));
  }
  if (isInRow)
    planner.laidOut().push_back({std::move(parts), whole});
  return true;
}

Result<bool> planPad(Planner &planner, Operation *op) {
  TORCHERE_ASSIGN(View input, planner.view(op->getOperand(0)));
  TORCHERE_ASSIGN(View value, planner.view(op->getOperand(1)));
  View whole = planner.allocate(op->getResult(0));
  TORCHERE_TRY(planner.emitCopy(broadcast(value, whole.shape, {}), whole));
  TORCHERE_TRY(planner.emitPadded(input, whole, integersOf(op, "edge_padding_low"),
                                  integersOf(op, "interior_padding")));
  return true;
}

Result<std::vector<View>> startsOf(Planner &planner, Operation *op, unsigned first) {
  std::vector<View> starts;
  for (mlir::Value operand : op->getOperands().drop_front(first)) {
    TORCHERE_ASSIGN(View start, planner.view(operand));
    starts.push_back(start);
  }
  return starts;
}

Result<bool> planDynamicSlice(Planner &planner, Operation *op) {
  TORCHERE_ASSIGN(View whole, planner.view(op->getOperand(0)));
  TORCHERE_ASSIGN(std::vector<View> starts, startsOf(planner, op, 1));
  View part = planner.allocate(op->getResult(0));
  auto step = std::make_unique<SliceStep>(SliceStep::Direction::Read, whole, part, starts);
  starts.push_back(whole);
  planner.emit(std::move(step), starts, {&part, 1});
  return true;
}

/// Writes where the operand lies if nobody needs that any more.
Result<bool> planDynamicUpdateSlice(Planner &planner, Operation *op) {
  TORCHERE_TRY(planner.flush());
  TORCHERE_ASSIGN(View whole, planner.view(op->getOperand(0)));
  TORCHERE_ASSIGN(View part, planner.view(op->getOperand(1)));
  TORCHERE_ASSIGN(std::vector<View> starts, startsOf(planner, op, 2));
  if (part.buffer != whole.buffer && planner.mayOverwrite(whole, op)) {
    planner.bind(op->getResult(0), whole);
  } else {
    View copy = planner.allocate(op->getResult(0));
    TORCHERE_TRY(planner.emitCopy(whole, copy));
    whole = copy;
  }
  auto step = std::make_unique<SliceStep>(SliceStep::Direction::Write, whole, part, starts);
  starts.push_back(part);
  if (!planner.joinCell(*step, starts, whole))
    planner.emit(std::move(step), starts, {&whole, 1});
  return true;
}

/// Whether integers can be read one by one, and the copy is one kernel's.
bool hasComputedPlaces(Operation *op, unsigned firstList) {
  if (shapeOf(op->getOperand(0)).size() > kMaxRank)
    return false;
  return llvm::all_of(op->getOperands().drop_front(firstList), [](mlir::Value list) {
    ElementType type = elementTypeOf(list);
    return dtypeOf(list) && !isFloat(type) && !isComplex(type) && elementTypeInfo(type).bits >= 8;
  });
}

/// The elements of a list of integers.
Result<std::vector<View>> elementsOf(Planner &planner, mlir::Value list) {
  TORCHERE_ASSIGN(View view, planner.view(list));
  std::vector<View> elements;
  for (int64_t i = 0; i < view.shape[0]; ++i)
    elements.push_back({view.buffer, view.type, view.offset + i * view.strides[0], {}, {}});
  return elements;
}

Result<bool> planComputedSlice(Planner &planner, Operation *op) {
  if (!hasComputedPlaces(op, 1))
    return false;
  TORCHERE_ASSIGN(View whole, planner.view(op->getOperand(0)));
  TORCHERE_ASSIGN(std::vector<View> starts, elementsOf(planner, op->getOperand(1)));
  TORCHERE_ASSIGN(std::vector<View> limits, elementsOf(planner, op->getOperand(2)));
  TORCHERE_ASSIGN(std::vector<View> steps, elementsOf(planner, op->getOperand(3)));
  std::vector<ComputedPlace> places;
  std::vector<View> reads{whole};
  for (size_t i = 0; i < starts.size(); ++i) {
    places.push_back({starts[i], limits[i], steps[i]});
    reads.insert(reads.end(), {starts[i], limits[i], steps[i]});
  }
  View part = planner.allocate(op->getResult(0));
  planner.emit(std::make_unique<ComputedSliceStep>(whole, part, std::move(places),
                                                   interpreter::placeText(op->getLoc())),
               reads, {&part, 1});
  return true;
}

Result<bool> planComputedPad(Planner &planner, Operation *op) {
  if (!hasComputedPlaces(op, 2))
    return false;
  TORCHERE_ASSIGN(View input, planner.view(op->getOperand(0)));
  TORCHERE_ASSIGN(View value, planner.view(op->getOperand(1)));
  TORCHERE_ASSIGN(std::vector<View> lows, elementsOf(planner, op->getOperand(2)));
  TORCHERE_ASSIGN(std::vector<View> highs, elementsOf(planner, op->getOperand(3)));
  TORCHERE_ASSIGN(std::vector<View> interiors, elementsOf(planner, op->getOperand(4)));
  std::vector<ComputedPadding> paddings;
  std::vector<View> reads{input};
  for (size_t i = 0; i < lows.size(); ++i) {
    paddings.push_back({lows[i], highs[i], interiors[i]});
    reads.insert(reads.end(), {lows[i], highs[i], interiors[i]});
  }
  View whole = planner.allocate(op->getResult(0));
  TORCHERE_TRY(planner.emitCopy(broadcast(value, whole.shape, {}), whole));
  planner.emit(std::make_unique<ComputedPadStep>(input, whole, std::move(paddings),
                                                 interpreter::placeText(op->getLoc())),
               reads, {&whole, 1});
  return true;
}

} // namespace

void addMovement(PlannerTable &table) {
  table.addCall("torchere_cpu.parts", planJoinedParts);
  table.add("stablehlo.broadcast_in_dim", planBroadcast);
  table.add("stablehlo.concatenate", planConcatenate);
  table.add("stablehlo.constant", planConstant);
  table.add("stablehlo.dynamic_broadcast_in_dim", planBroadcast); // the types tell the sizes
  table.add("stablehlo.dynamic_pad", planComputedPad);
  table.add("stablehlo.dynamic_reshape", planReshape);
  table.add("stablehlo.dynamic_slice", planDynamicSlice);
  table.add("stablehlo.dynamic_update_slice", planDynamicUpdateSlice);
  table.add("stablehlo.optimization_barrier", planBarrier);
  table.add("stablehlo.pad", planPad);
  table.add("stablehlo.real_dynamic_slice", planComputedSlice);
  table.add("stablehlo.reshape", planReshape);
  table.add("stablehlo.reverse", planReverse);
  table.add("stablehlo.slice", planSlice);
  table.add("stablehlo.transpose", planTranspose);
}

} // namespace torchere::cpu
