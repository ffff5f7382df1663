// Implements CellStep.
#include "cpu/execute/cell_step.h"

#include "cpu/kernels/isa_dispatch.h"
#include "cpu/plan/limits.h"

#include <algorithm>
#include <cstring>

namespace torchere::cpu {

/// More rows are work enough for the threads in each of the two steps.
static constexpr int64_t mostRows = 64;
/// Reading a weight takes as long as so many multiply-adds.
static constexpr int64_t weightWork = 8;

/// Pieces of so many multiply-adds, at least, as long as there are few: many pieces of few columns spend
/// their time between the products.
static int64_t piecesOf(int64_t work) {
  constexpr int64_t leastWork = 500000, few = 8, muchWork = 2000000, most = 32;
  return std::max(std::clamp<int64_t>(work / leastWork, 1, few), std::min(work / muchWork, most));
}

template <class T> static bool isA(const Step &step) {
  return step.storedClass() == &storedClassOf<T>;
}

std::unique_ptr<const Step> CellStep::create(const Step &product, const Step &vector, const Step *slice,
                                             Isa isa) {
  if (!isA<MatmulStep>(product) || !isA<VectorStep>(vector) || (slice && !isA<SliceStep>(*slice)))
    return nullptr;
  auto step = std::make_unique<CellStep>();
  step->product = static_cast<const MatmulStep &>(product);
  step->vector = static_cast<const VectorStep &>(vector);
  if (slice)
    step->slice = static_cast<const SliceStep &>(*slice);
  if (!step->derive(isa))
    return nullptr;
  return step;
}

std::unique_ptr<const Step> CellStep::writing(const SliceStep &slice, Isa isa) const {
  if (written)
    return nullptr;
  auto step = std::make_unique<CellStep>();
  step->product = product;
  step->vector = vector;
  step->slice = this->slice;
  step->written = slice;
  if (!step->derive(isa))
    return nullptr;
  return step;
}

static bool hasBuffer(const std::vector<View> &views, BufferId buffer) {
  return std::any_of(views.begin(), views.end(), [&](const View &view) { return view.buffer == buffer; });
}

/// What the product reads and writes.
std::vector<View> CellStep::productViews() const {
  const Matmul &matmul = product.operands();
  std::vector<View> views{matmul.a.view, matmul.b.view, matmul.result};
  for (const std::optional<View> *view : {&matmul.bias, &matmul.residual})
    if (*view)
      views.push_back(**view);
  return views;
}

/// All of the one, as many elements, is all of the other, in the same order.
static bool isSame(const View &part, const View &view) {
  return part.type == view.type && part.buffer == view.buffer && part.offset == view.offset &&
         elementCount(part.shape) == elementCount(view.shape) && isDense(view);
}

/// Whether all elements of the view are among those of the dense part.
static bool isWithin(const View &view, const View &part) {
  int64_t last = view.offset;
  for (size_t i = 0; i < view.shape.size(); ++i) {
    if (view.strides[i] < 0 || view.shape[i] == 0)
      return false;
    last += (view.shape[i] - 1) * view.strides[i];
  }
  return view.type == part.type && view.offset >= part.offset &&
         last < part.offset + elementCount(part.shape);
}

/// Whether the slice, if there is one, is all of what is added to the product, or is read by the program
/// alone, and of nothing that is written.
bool CellStep::takesSlice() {
  if (!slice)
    return true;
  const Matmul &matmul = product.operands();
  const View &part = slice->partView();
  if (!slice->isRead() || !slice->isContiguous() ||
      hasBuffer(vector.outputViews(), slice->wholeView().buffer))
    return false;
  auto isOfPart = [&](const std::optional<View> &view) { return view && view->buffer == part.buffer; };
  bool isAdded = isOfPart(matmul.residual), isBias = isOfPart(matmul.bias),
       isRead = vector.reads(part.buffer);
  sliceUse = isAdded ? SliceUse::Residual : isBias ? SliceUse::Bias : SliceUse::Input;
  if (sliceUse == SliceUse::Input) {
    const std::vector<View> &inputs = vector.inputViews();
    return isRead && matmul.a.view.buffer != part.buffer && matmul.b.view.buffer != part.buffer &&
           matmul.result.buffer != part.buffer &&
           std::all_of(inputs.begin(), inputs.end(),
                       [&](const View &view) { return view.buffer != part.buffer || isWithin(view, part); });
  }
  return !(isAdded && isBias) && !isRead && isSame(part, isAdded ? *matmul.residual : *matmul.bias);
}

/// The slice is read where it lies.
void CellStep::placeSlice(const Frame &frame, GemmArgs &args, std::vector<const void *> &inputs) const {
  const std::byte *place = slice->placeOf(frame);
  if (sliceUse == SliceUse::Residual)
    args.epilogue.residual = place;
  else if (sliceUse == SliceUse::Bias)
    args.epilogue.bias = place;
  const View &part = slice->partView();
  const std::vector<View> &views = vector.inputViews();
  for (size_t i = 0; i < views.size() && sliceUse == SliceUse::Input; ++i)
    if (views[i].buffer == part.buffer)
      inputs[i] = place + (views[i].offset - part.offset) * part.elementSize();
}

/// Whether what is written, if anything is, is all of a result of the program, into memory and at a place
/// that the cell has nothing to do with.
bool CellStep::takesWrite() {
  if (!written)
    return true;
  const std::vector<View> &outputs = vector.outputViews();
  const View &part = written->partView();
  auto output =
      std::find_if(outputs.begin(), outputs.end(), [&](const View &view) { return isSame(part, view); });
  if (output == outputs.end() || written->isRead() || !written->isContiguous())
    return false;
  writtenOutput = static_cast<size_t>(output - outputs.begin());
  BufferId whole = written->wholeView().buffer;
  const std::vector<View> &starts = written->startViews();
  bool isComputed =
      hasBuffer(starts, whole) || std::any_of(starts.begin(), starts.end(), [&](const View &start) {
        return start.buffer == product.operands().result.buffer || hasBuffer(outputs, start.buffer);
      });
  bool isOfSlice = slice && (slice->wholeView().buffer == whole || hasBuffer(slice->startViews(), whole));
  return !isComputed && !isOfSlice && !hasBuffer(productViews(), whole) &&
         !hasBuffer(vector.inputViews(), whole) && !hasBuffer(outputs, whole);
}

/// Whether the program reads the product by runs, and writes nothing that the product reads.
bool CellStep::takesRuns(int64_t width) const {
  const Matmul &matmul = product.operands();
  const View &result = matmul.result;
  bool isRead = false;
  for (const View &input : vector.inputViews()) {
    if (input.buffer != result.buffer)
      continue;
    int64_t first = input.offset - result.offset;
    bool isRun = input.type == ElementType::F32 && input.strides.back() == 1 && first >= 0 &&
                 first < matmul.n && first % width == 0 &&
                 (input.shape.size() == 1 || input.strides[0] == matmul.n || matmul.m == 1);
    if (!isRun)
      return false;
    isRead = true;
  }
  const std::vector<View> read = productViews();
  return isRead && std::none_of(vector.outputViews().begin(), vector.outputViews().end(),
                                [&](const View &view) { return hasBuffer(read, view.buffer); });
}

bool CellStep::derive(Isa isa) {
  const Matmul &matmul = product.operands();
  const Sizes &shape = vector.outputViews().front().shape;
  if (shape.empty() || shape.size() > 2 || !vector.isOfElements())
    return false;
  int64_t width = shape.back(), rows = shape.size() == 2 ? shape[0] : 1;
  int64_t panel = product.packed().panelColumns();
  bool fits = matmul.type == DType::F32 && matmul.resultType == DType::F32 && matmul.batches == 1 &&
              !matmul.choice && matmul.m == rows && rows <= mostRows && matmul.n % width == 0 &&
              width % panel == 0;
  if (!fits || !takesRuns(width) || !takesSlice() || !takesWrite())
    return false;
  runs = matmul.n / width;
  pieces = std::min(piecesOf(matmul.k * matmul.n * (rows + weightWork)), width / panel);
  while (width / panel % pieces != 0)
    --pieces;
  Sizes piece = shape;
  piece.back() /= pieces;
  auto steps = [&](const std::vector<View> &views) {
    std::vector<int64_t> made;
    for (const View &view : views)
      made.push_back(piece.back() * view.strides.back() * view.elementSize());
    return made;
  };
  inputSteps = steps(vector.inputViews());
  outputSteps = steps(vector.outputViews());
  Result<VectorPlan> plan = vector.planOn(piece, isa);
  if (!plan)
    return false;
  onPiece = *std::move(plan);
  lstm = lstmCell();
  return true;
}

/// Elements from a row of a view to the next.
static int64_t rowStrideOf(const View &view) {
  return view.shape.size() == 2 ? view.strides[0] : 0;
}

/// The program as an LSTM's cell, if its rows lie as the kernel for these takes them.
std::optional<LstmCell> CellStep::lstmCell() const {
  std::optional<LstmCell> cell = LstmCell::of(vector.vectorProgram());
  const std::vector<View> &inputs = vector.inputViews(), &outputs = vector.outputViews();
  auto hasRows = [](const View &view) { return view.strides.back() == 1; };
  auto isApart = [&](const View &output) { // or the same elements
    return std::all_of(inputs.begin(), inputs.end(), [&](const View &input) {
      return input.buffer != output.buffer ||
             (input.offset == output.offset && input.strides == output.strides);
    });
  };
  if (!cell || !std::all_of(inputs.begin(), inputs.end(), hasRows) ||
      !std::all_of(outputs.begin(), outputs.end(), hasRows) ||
      !std::all_of(outputs.begin(), outputs.end(), isApart))
    return std::nullopt;
  const int64_t gateStride = rowStrideOf(inputs[cell->input]);
  for (uint16_t gate : {cell->forget, cell->candidate, cell->output})
    if (rowStrideOf(inputs[gate]) != gateStride)
      return std::nullopt;
  return cell;
}

void CellStep::runLstmCell(const Context &context, const void *const *inputs, void *const *outputs) const {
  auto from = [&](uint16_t input) { return static_cast<const float *>(inputs[input]); };
  auto to = [&](uint16_t output) { return static_cast<float *>(outputs[output]); };
  LstmCellsJob job;
  job.input = from(lstm->input);
  job.forget = from(lstm->forget);
  job.candidate = from(lstm->candidate);
  job.output = from(lstm->output);
  job.gateStride = rowStrideOf(vector.inputViews()[lstm->input]);
  job.cell = from(lstm->cell);
  job.cellStride = rowStrideOf(vector.inputViews()[lstm->cell]);
  job.newCell = to(lstm->newCell);
  job.newCellStride = rowStrideOf(vector.outputViews()[lstm->newCell]);
  job.hidden = to(lstm->hidden);
  job.hiddenStride = rowStrideOf(vector.outputViews()[lstm->hidden]);
  job.rows = product.operands().m;
  job.columns = product.operands().n / runs / pieces;
  kernelsOf(context.isa).lstmCells(job);
}

Status CellStep::run(const Frame &frame) const {
  TORCHERE_ASSIGN(Packed packed, product.pack(frame));
  if (!packed) {
    if (slice)
      TORCHERE_TRY(slice->run(frame));
    TORCHERE_TRY(product.run(frame));
    TORCHERE_TRY(vector.run(frame));
    return written ? written->run(frame) : Status();
  }
  GemmArgs args = product.gemmOn(frame);
  args.packedB = packed.get();
  std::byte *place = written ? written->placeOf(frame) : nullptr;
  static thread_local std::vector<const void *> from; // their memory is kept
  static thread_local std::vector<void *> to;
  vector.place(frame, from, to);
  if (slice)
    placeSlice(frame, args, from);
  const void *const *inputs = from.data();
  void *const *outputs = to.data();
  gemmByRuns(frame.context, args, runs, pieces, [&, inputs, outputs, place](int64_t piece) {
    static thread_local std::vector<const void *> fromPiece;
    static thread_local std::vector<void *> toPiece;
    fromPiece.clear();
    toPiece.clear();
    for (size_t i = 0; i < inputSteps.size(); ++i)
      fromPiece.push_back(static_cast<const std::byte *>(inputs[i]) + piece * inputSteps[i]);
    for (size_t i = 0; i < outputSteps.size(); ++i)
      toPiece.push_back(static_cast<std::byte *>(outputs[i]) + piece * outputSteps[i]);
    if (lstm)
      runLstmCell(frame.context, fromPiece.data(), toPiece.data());
    else
      onPiece.run(frame.context, fromPiece.data(), toPiece.data());
    if (place)
      writePiece(piece, toPiece[writtenOutput], place);
  });
  return {};
}

/// A piece of the result's rows, which is in the cache, to the slice at `place`.
void CellStep::writePiece(int64_t piece, const void *result, std::byte *place) const {
  const View &view = vector.outputViews()[writtenOutput];
  const int64_t bytes = outputSteps[writtenOutput], row = view.shape.back() * view.elementSize();
  const auto *from = static_cast<const std::byte *>(result);
  place += piece * bytes;
  for (int64_t i = 0; i < product.operands().m; ++i, from += row, place += row)
    std::memcpy(place, from, static_cast<size_t>(bytes));
}

Status CellStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(product.restore(limits));
  TORCHERE_TRY(vector.restore(limits));
  if (slice)
    TORCHERE_TRY(slice->restore(limits));
  if (written)
    TORCHERE_TRY(written->restore(limits));
  return expect(derive(limits.isa()), "a vector program that is not one on pieces of the product's columns");
}

} // namespace torchere::cpu
