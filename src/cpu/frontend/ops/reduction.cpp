// Plans reductions of whole dimensions and of windows.
#include "cpu/execute/extremum_step.h"
#include "cpu/execute/fold_step.h"
#include "cpu/execute/reduce_step.h"
#include "cpu/execute/vector_step.h"
#include "cpu/execute/window_scatter_step.h"
#include "cpu/execute/window_steps.h"
#include "cpu/frontend/elementwise.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/joined_reductions.h"
#include "cpu/frontend/region_body.h"
#include "cpu/vector/op_rules.h"

#include <array>
#include <bit>

using namespace mlir;

namespace torchere::cpu {

namespace {

/// What is reduced: for each output the elements of a window. Both have as many dimensions as the inputs
/// have.
struct Windows {
  std::vector<View> inputs, initials;
  Sizes output, window;
  // How far an input's elements lie apart for a step of the output, or in the window, in units of its
  // strides.
  Sizes outputSteps, windowSteps;
  /// Of running reductions: the axis, and whether they begin at its end.
  std::optional<int64_t> running;
  bool backwards = false;
};

Result<std::vector<View>> viewsOf(Planner &planner, OperandRange values) {
  std::vector<View> views;
  for (mlir::Value value : values) {
    TORCHERE_ASSIGN(View view, planner.view(value));
    views.push_back(view);
  }
  return views;
}

void emitFold(Planner &planner, Operation *op, const Windows &windows, RegionProgram program,
              std::vector<View> captures) {
  FoldArgs args;
  args.running = windows.running.has_value();
  args.rank = args.windowRank = static_cast<int>(windows.output.size());
  std::copy(windows.output.begin(), windows.output.end(), args.dims);
  std::copy(windows.window.begin(), windows.window.end(), args.windowDims);
  std::vector<FoldStep::Operand> operands;
  std::vector<View> reads = captures, writes;
  for (size_t i = 0; i < windows.inputs.size(); ++i) {
    const View &input = windows.inputs[i];
    View result = planner.allocate(op->getResult(static_cast<unsigned>(i)));
    if (windows.backwards)
      result = reversed(result, {&*windows.running, 1});
    FoldOperand operand;
    operand.type = *dtypeOf(op->getResult(static_cast<unsigned>(i)));
    Sizes outputStrides = rowMajorStrides(windows.output);
    for (size_t d = 0; d < input.shape.size(); ++d) {
      operand.inputStrides[d] = input.strides[d] * windows.outputSteps[d];
      operand.windowStrides[d] = input.strides[d] * windows.windowSteps[d];
      operand.outputStrides[d] = outputStrides[d];
    }
    args.operands.push_back(operand);
    operands.push_back({input, windows.initials[i], result});
    reads.insert(reads.end(), {input, windows.initials[i]});
    writes.push_back(result);
  }
  for (mlir::Value capture : program.captures)
    args.captureTypes.push_back(*dtypeOf(capture));
  planner.emit(std::make_unique<FoldStep>(std::move(program.program), std::move(args), std::move(operands),
                                          std::move(captures)),
               reads, writes);
}

Result<std::vector<View>> capturesFor(Planner &planner, const RegionProgram &program) {
  std::vector<View> captures;
  for (mlir::Value value : program.captures) {
    TORCHERE_ASSIGN(View view, planner.view(value));
    captures.push_back(view);
  }
  return captures;
}

Result<bool> planReduce(Planner &planner, Operation *op) {
  size_t rank = shapeOf(op->getOperand(0)).size();
  if (joinsReductions(op)) {
    planner.deferReduction(op);
    return true;
  }
  std::optional<RegionProgram> program;
  if (!reducesOwnTypes(op) || rank > kMaxRank || !(program = programOf(op->getRegion(0))))
    return false;
  auto count = static_cast<unsigned>(op->getNumResults());
  Windows windows;
  TORCHERE_ASSIGN(windows.inputs, viewsOf(planner, op->getOperands().take_front(count)));
  TORCHERE_ASSIGN(windows.initials, viewsOf(planner, op->getOperands().drop_front(count)));
  Sizes dimensions = integersOf(op, "dimensions");
  TORCHERE_ASSIGN(std::vector<View> captures, capturesFor(planner, *program));
  windows.output = windows.window = windows.inputs[0].shape;
  for (size_t d = 0; d < rank; ++d)
    (llvm::is_contained(dimensions, static_cast<int64_t>(d)) ? windows.output : windows.window)[d] = 1;
  windows.outputSteps = windows.windowSteps = Sizes(rank, 1);
  if (elementCount(windows.window) == 0) {
    for (unsigned i = 0; i < count; ++i) {
      View result = planner.allocate(op->getResult(i));
      TORCHERE_TRY(planner.emitCopy(broadcast(windows.initials[i], result.shape, {}), result));
    }
    return true;
  }
  emitFold(planner, op, windows, *std::move(program), std::move(captures));
  return true;
}

/// The attributes of windows.
struct WindowForm {
  Sizes size, stride, dilation, baseDilation, padding;

  explicit WindowForm(Operation *op) : size(integersOf(op, "window_dimensions")) {
    size_t rank = size.size();
    stride = integersOf(op, "window_strides", rank, 1);
    dilation = integersOf(op, "window_dilations", rank, 1);
    baseDilation = integersOf(op, "base_dilations", rank, 1);
    padding = integersOf(op, "padding", 2 * rank, 0);
  }
};

/// The one dimension whose windows all begin, or all end, with it: what cumulative sums are written as.
struct Running {
  size_t dimension = 0;
  bool backwards = false;
};
std::optional<Running> runningOf(const WindowForm &form, const Sizes &shape) {
  std::optional<size_t> found;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (form.stride[d] != 1 || form.dilation[d] != 1 || form.baseDilation[d] != 1)
      return std::nullopt;
    int64_t low = form.padding[2 * d], high = form.padding[2 * d + 1];
    if (form.size[d] == 1 && low == 0 && high == 0)
      continue;
    bool isWhole = form.size[d] >= shape[d] && low + high == form.size[d] - 1 && (low == 0 || high == 0);
    if (!isWhole || found)
      return std::nullopt;
    found = d;
  }
  if (!found)
    return std::nullopt;
  return Running{*found, form.padding[2 * *found] == 0};
}

/// The bits of an element that joins without a change.
std::array<std::byte, 8> neutralElement(Reduction reduction, DType type) {
  static constexpr VectorOp ops[] = {VectorOp::ReduceSum,     VectorOp::ReduceProduct,
                                     VectorOp::ReduceMaximum, VectorOp::ReduceMinimum,
                                     VectorOp::ReduceMinimum, VectorOp::ReduceSum};
  auto at = static_cast<size_t>(reduction);
  uint64_t bits = reduction == Reduction::And && type != DType::Bool
                      ? ~uint64_t(0)
                      : neutralBits(ops[at], computeType(type));
  if (type == DType::BF16)
    bits >>= 16;
  if (type == DType::F16) {
    static constexpr uint16_t halves[] = {0, 0x3c00, 0xfc00, 0x7c00};
    bits = halves[at];
  }
  return std::bit_cast<std::array<std::byte, 8>>(bits);
}

/// The view with padding around and between its elements.
Result<View> padded(Planner &planner, const View &view, const WindowForm &form, const View &value) {
  size_t rank = view.shape.size();
  Sizes shape(rank), low(rank), interior(rank);
  for (size_t d = 0; d < rank; ++d) {
    int64_t size = view.shape[d], high = form.padding[2 * d + 1];
    low[d] = form.padding[2 * d];
    interior[d] = form.baseDilation[d] - 1;
    shape[d] = (size == 0 ? 0 : (size - 1) * form.baseDilation[d] + 1) + low[d] + high;
  }
  if (shape == view.shape && llvm::all_of(low, [](int64_t each) { return each == 0; }))
    return view;
  View whole = planner.allocate(view.type, shape);
  TORCHERE_TRY(planner.emitCopy(broadcast(value, shape, {}), whole));
  TORCHERE_TRY(planner.emitPadded(view, whole, low, interior));
  return whole;
}

Result<bool> planRunning(Planner &planner, Operation *op, const Windows &windows, Running running,
                         Reduction reduction) {
  RunningArgs args;
  args.type = *dtypeOf(op->getResult(0));
  args.reduction = reduction;
  args.backwards = running.backwards;
  std::span shape(windows.inputs[0].shape);
  args.outer = elementCount(shape.first(running.dimension));
  args.length = shape[running.dimension];
  args.inner = elementCount(shape.subspan(running.dimension + 1));
  TORCHERE_ASSIGN(View input, planner.viewDense(op->getOperand(0)));
  View result = planner.allocate(op->getResult(0));
  std::vector<View> reads{input, windows.initials[0]};
  planner.emit(std::make_unique<RunningStep>(args, input, windows.initials[0], result), reads, {&result, 1});
  return true;
}

/// Windows that take a dimension whole, or no more than one element of it, are a reduction of dimensions.
Result<bool> planWholeWindows(Planner &planner, Operation *op, const Windows &windows, Reduction reduction) {
  View input = windows.inputs[0];
  Sizes reduced;
  for (size_t d = 0; d < input.shape.size(); ++d) {
    bool isReduced = windows.window[d] != 1;
    if (isReduced && windows.output[d] != 1)
      return false;
    input.shape[d] = isReduced ? windows.window[d] : windows.output[d];
    input.strides[d] *= isReduced ? windows.windowSteps[d] : windows.outputSteps[d];
    if (isReduced)
      reduced.push_back(static_cast<int64_t>(d));
  }
  View result = planner.allocate(op->getResult(0));
  TORCHERE_ASSIGN(
      std::unique_ptr<const Step> step,
      ReduceStep::create(reduction, *dtypeOf(op->getResult(0)), input, windows.initials[0], result, reduced));
  std::vector<View> reads{input, windows.initials[0]};
  planner.emit(std::move(step), reads, {&result, 1});
  return true;
}

void emitWindows(Planner &planner, Operation *op, const Windows &windows, Reduction reduction) {
  WindowsArgs args;
  const View &input = windows.inputs[0];
  args.type = *dtypeOf(op->getResult(0));
  args.reduction = reduction;
  args.rank = static_cast<int>(input.shape.size());
  for (size_t d = 0; d < input.shape.size(); ++d) {
    args.outputDims[d] = windows.output[d];
    args.windowDims[d] = windows.window[d];
    args.outputStrides[d] = input.strides[d] * windows.outputSteps[d];
    args.windowStrides[d] = input.strides[d] * windows.windowSteps[d];
  }
  View result = planner.allocate(op->getResult(0));
  std::vector<View> reads{input, windows.initials[0]};
  planner.emit(std::make_unique<WindowStep>(args, input, windows.initials[0], result), reads, {&result, 1});
}

/// Running reductions by a function. What is kept lies as the inputs do, so these are dense.
Result<bool> planRunningFold(Planner &planner, Operation *op, Windows windows, Running running,
                             RegionProgram program, std::vector<View> captures) {
  windows.running = static_cast<int64_t>(running.dimension);
  windows.backwards = running.backwards;
  for (size_t i = 0; i < windows.inputs.size(); ++i) {
    TORCHERE_ASSIGN(windows.inputs[i], planner.viewDense(op->getOperand(static_cast<unsigned>(i))));
    if (running.backwards)
      windows.inputs[i] = reversed(windows.inputs[i], {&*windows.running, 1});
  }
  windows.window = Sizes(windows.output.size(), 1);
  std::swap(windows.window[running.dimension], windows.output[running.dimension]);
  emitFold(planner, op, windows, std::move(program), std::move(captures));
  return true;
}

Result<bool> planReduceWindow(Planner &planner, Operation *op) {
  WindowForm form(op);
  size_t rank = shapeOf(op->getOperand(0)).size();
  auto count = static_cast<unsigned>(op->getNumResults());
  if (!reducesOwnTypes(op) || rank > kMaxRank || form.size.size() != rank)
    return false;
  std::optional<Reduction> reduction = reductionOf(op->getRegion(0));
  std::optional<RegionProgram> program;
  if (!reduction && !(program = programOf(op->getRegion(0))))
    return false;
  Windows windows;
  TORCHERE_ASSIGN(windows.inputs, viewsOf(planner, op->getOperands().take_front(count)));
  TORCHERE_ASSIGN(windows.initials, viewsOf(planner, op->getOperands().drop_front(count)));
  windows.output = shapeOf(op->getResult(0));
  windows.window = form.size;
  windows.outputSteps = form.stride;
  windows.windowSteps = form.dilation;
  std::vector<View> captures;
  if (program) {
    TORCHERE_ASSIGN(captures, capturesFor(planner, *program));
  }
  if (elementCount(windows.output) == 0) {
    for (mlir::Value value : op->getResults())
      planner.allocate(value);
    return true;
  }
  std::optional<Running> running = runningOf(form, windows.inputs[0].shape);
  if (running && reduction)
    return planRunning(planner, op, windows, *running, *reduction);
  if (running)
    return planRunningFold(planner, op, std::move(windows), *running, *std::move(program),
                           std::move(captures));
  for (size_t i = 0; i < windows.inputs.size(); ++i) {
    View filler = windows.initials[i];
    if (reduction) {
      std::array<std::byte, 8> neutral = neutralElement(*reduction, *dtypeOf(op->getResult(0)));
      auto size = static_cast<size_t>(filler.elementSize());
      filler = planner.constant(filler.type, {}, std::span<const std::byte>(neutral).first(size));
    }
    TORCHERE_ASSIGN(windows.inputs[i], padded(planner, windows.inputs[i], form, filler));
  }
  if (reduction) {
    TORCHERE_ASSIGN(bool isPlanned, planWholeWindows(planner, op, windows, *reduction));
    if (!isPlanned)
      emitWindows(planner, op, windows, *reduction);
    return true;
  }
  emitFold(planner, op, windows, *std::move(program), std::move(captures));
  return true;
}

Result<bool> planMap(Planner &planner, Operation *op) {
  std::optional<RegionProgram> program = programOf(op->getRegion(0));
  if (!program || elementCount(shapeOf(op->getResult(0))) == 0)
    return false;
  TORCHERE_ASSIGN(std::vector<View> inputs, viewsOf(planner, op->getOperands()));
  TORCHERE_ASSIGN(std::vector<View> captures, capturesFor(planner, *program));
  View result = planner.allocate(op->getResult(0));
  for (const View &capture : captures)
    inputs.push_back(broadcast(capture, result.shape, {}));
  TORCHERE_ASSIGN(
      std::unique_ptr<const Step> step,
      VectorStep::create(std::move(program->program), inputs, {result}, /*walked=*/true, planner.isa()));
  planner.emit(std::move(step), inputs, {&result, 1});
  return true;
}

/// Of one type, on scalars alone.
std::optional<VectorProgram> pureProgramOf(Region &region, DType type) {
  Block &block = region.front();
  if (block.getNumArguments() != 2 || dtypeOf(block.getArgument(0)) != type ||
      dtypeOf(block.getArgument(1)) != type)
    return std::nullopt;
  return programOf(region, block.getTerminator()->getOperand(0));
}

Result<bool> planSelectAndScatter(Planner &planner, Operation *op) {
  std::optional<DType> type = dtypeOf(op->getResult(0));
  Sizes shape = shapeOf(op->getResult(0)), source = shapeOf(op->getOperand(1));
  if (!type || dtypeOf(op->getOperand(0)) != type || shape.size() > kMaxRank)
    return false;
  std::optional<VectorProgram> select = pureProgramOf(op->getRegion(0), *type),
                               scatter = pureProgramOf(op->getRegion(1), *type);
  if (!select || !scatter || dtypeOf(op->getRegion(1).front().getTerminator()->getOperand(0)) != type)
    return false;
  size_t rank = shape.size();
  Sizes window = integersOf(op, "window_dimensions", rank, 1),
        strides = integersOf(op, "window_strides", rank, 1), padding = integersOf(op, "padding", 2 * rank, 0);
  WindowScatterArgs args;
  args.type = *type;
  args.rank = static_cast<int>(rank);
  for (size_t d = 0; d < rank; ++d) {
    args.dims[d] = shape[d];
    args.sourceDims[d] = source[d];
    args.windowDims[d] = window[d];
    args.windowStrides[d] = strides[d];
    args.padding[d] = padding[2 * d];
  }
  WindowScatterStep::Views views;
  TORCHERE_ASSIGN(views.operand, planner.viewDense(op->getOperand(0)));
  TORCHERE_ASSIGN(views.source, planner.viewDense(op->getOperand(1)));
  TORCHERE_ASSIGN(views.initial, planner.view(op->getOperand(2)));
  views.result = planner.allocate(op->getResult(0));
  std::vector<View> reads{views.operand, views.source, views.initial};
  View result = views.result;
  planner.emit(
      std::make_unique<WindowScatterStep>(args, *std::move(select), *std::move(scatter), std::move(views)),
      reads, {&result, 1});
  return true;
}

Result<bool> planExtremum(Planner &planner, Operation *op) {
  TORCHERE_ASSIGN(View input, planner.viewDense(op->getOperand(0)));
  auto dimension = static_cast<size_t>(kernelInteger(op, "dimension"));
  ExtremumArgs args;
  args.type = *dtypeOf(op->getOperand(0));
  args.isLargest = kernelFlag(op, "largest");
  args.placeType = *dtypeOf(op->getResult(1));
  args.outer = elementCount(std::span(input.shape).first(dimension));
  args.length = input.shape[dimension];
  args.inner = elementCount(std::span(input.shape).subspan(dimension + 1));
  std::vector<View> results{planner.allocate(op->getResult(0)), planner.allocate(op->getResult(1))};
  planner.emit(std::make_unique<ExtremumStep>(args, input, results[0], results[1]), {&input, 1}, results);
  return true;
}

Result<bool> planWindowExtremum(Planner &planner, Operation *op) {
  TORCHERE_ASSIGN(View input, planner.viewDense(op->getOperand(0)));
  auto first = static_cast<size_t>(kernelInteger(op, "first"));
  WindowExtremumArgs args;
  args.type = *dtypeOf(op->getOperand(0));
  args.isLargest = kernelFlag(op, "largest");
  args.placeType = *dtypeOf(op->getResult(1));
  args.emptyPlace = kernelInteger(op, "empty_place");
  args.planes = elementCount(std::span(input.shape).first(first));
  std::vector<View> results{planner.allocate(op->getResult(0)), planner.allocate(op->getResult(1))};
  auto put = [&](std::span<const int64_t> sizes, int64_t (&to)[kWindowRank]) {
    putSizes(sizes.subspan(first), to);
  };
  put(input.shape, args.dims);
  put(results[0].shape, args.outputDims);
  put(kernelIntegers(op, "window"), args.windowDims);
  put(kernelIntegers(op, "strides"), args.strides);
  put(kernelIntegers(op, "dilations"), args.dilations);
  put(kernelIntegers(op, "padding"), args.padding);
  planner.emit(std::make_unique<WindowExtremumStep>(args, input, results[0], results[1]), {&input, 1},
               results);
  return true;
}

} // namespace

void addReduction(PlannerTable &table) {
  table.addCall("torchere_cpu.extremum", planExtremum);
  table.addCall("torchere_cpu.window_extremum", planWindowExtremum);
  table.add("stablehlo.map", planMap);
  table.add("stablehlo.reduce", planReduce);
  table.add("stablehlo.reduce_window", planReduceWindow);
  table.add("stablehlo.select_and_scatter", planSelectAndScatter);
}

} // namespace torchere::cpu
