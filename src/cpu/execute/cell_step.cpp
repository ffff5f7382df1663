// Implements CellStep.
#include "cpu/execute/cell_step.h"

#include "cpu/plan/limits.h"

#include <algorithm>

namespace torchere::cpu {

/// More rows are work enough for the threads in each of the two steps.
static constexpr int64_t mostRows = 16;
/// Multiply-adds of a piece, at least; reading a weight takes as long as `weightWork` of them.
static constexpr int64_t pieceWork = 500000, weightWork = 8;
static constexpr int64_t mostPieces = 32;

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

/// Whether the slice, if there is one, is all of what is added to the product, and of nothing that is
/// written.
bool CellStep::takesSlice() const {
  if (!slice)
    return true;
  const std::optional<View> &residual = product.operands().residual;
  const View &part = slice->partView();
  bool isWritten = std::any_of(vector.outputViews().begin(), vector.outputViews().end(),
                               [&](const View &view) { return view.buffer == slice->wholeView().buffer; });
  return residual && slice->isRead() && slice->isContiguous() && part.type == residual->type &&
         part.buffer == residual->buffer && part.offset == residual->offset &&
         elementCount(part.shape) == elementCount(residual->shape) && !vector.reads(part.buffer) &&
         !isWritten;
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
  std::vector<BufferId> read{matmul.a.view.buffer, matmul.b.view.buffer, result.buffer};
  for (const std::optional<View> *view : {&matmul.bias, &matmul.residual})
    if (*view)
      read.push_back((*view)->buffer);
  return isRead &&
         std::none_of(vector.outputViews().begin(), vector.outputViews().end(), [&](const View &view) {
           return std::find(read.begin(), read.end(), view.buffer) != read.end();
         });
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
  if (!fits || !takesRuns(width) || !takesSlice())
    return false;
  runs = matmul.n / width;
  pieces = std::clamp<int64_t>(matmul.k * matmul.n * (rows + weightWork) / pieceWork, 1,
                               std::min(mostPieces, width / panel));
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
  return true;
}

Status CellStep::run(const Frame &frame) const {
  TORCHERE_ASSIGN(Packed packed, product.pack(frame));
  if (!packed) {
    if (slice)
      TORCHERE_TRY(slice->run(frame));
    TORCHERE_TRY(product.run(frame));
    return vector.run(frame);
  }
  GemmArgs args = product.gemmOn(frame);
  args.packedB = packed.get();
  if (slice)
    args.epilogue.residual = slice->placeOf(frame);
  static thread_local std::vector<const void *> from; // their memory is kept
  static thread_local std::vector<void *> to;
  vector.place(frame, from, to);
  const void *const *inputs = from.data();
  void *const *outputs = to.data();
  gemmByRuns(frame.context, args, runs, pieces, [&, inputs, outputs](int64_t piece) {
    static thread_local std::vector<const void *> fromPiece;
    static thread_local std::vector<void *> toPiece;
    fromPiece.clear();
    toPiece.clear();
    for (size_t i = 0; i < inputSteps.size(); ++i)
      fromPiece.push_back(static_cast<const std::byte *>(inputs[i]) + piece * inputSteps[i]);
    for (size_t i = 0; i < outputSteps.size(); ++i)
      toPiece.push_back(static_cast<std::byte *>(outputs[i]) + piece * outputSteps[i]);
    onPiece.run(frame.context, fromPiece.data(), toPiece.data());
  });
  return {};
}

Status CellStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(product.restore(limits));
  TORCHERE_TRY(vector.restore(limits));
  if (slice)
    TORCHERE_TRY(slice->restore(limits));
  return expect(derive(limits.isa()), "a vector program that is not one on pieces of the product's columns");
}

} // namespace torchere::cpu
