// Implements MatmulStep.
#include "cpu/execute/matmul_step.h"

#include "cpu/execute/packed_region.h"
#include "cpu/execute/slice_step.h"
#include "cpu/kernels/matrix_vector.h"
#include "cpu/plan/limits.h"

#include <algorithm>

namespace torchere::cpu {

/// The slot of the pool's scratch memory that no kernel below gemm() uses.
static constexpr int scratchSlot = ThreadPool::kScratchSlots - 1;

MatmulStep::MatmulStep(const Matmul &matmul, Isa isa) : matmul(matmul) {
  derive(isa);
}

void MatmulStep::derive(Isa isa) {
  layout = packedLayout(matmul.type, isa, matmul.m, matmul.k, matmul.n);
  isShared = matmul.batches == 1 || matmul.b.batchStride == 0;
  cache = PackedCache(fmt::format("matrix {} {} {} {} {}: {} of {} {} {} {} {}", int(layout.type),
                                  int(layout.isa), layout.vectors, layout.k, layout.n, matrices(),
                                  matmul.b.view.offset, matmul.b.batchStride, matmul.b.rowStride,
                                  matmul.b.columnStride, int(matmul.b.view.type)));
}

GemmArgs MatmulStep::gemmOn(const Frame &frame) const {
  GemmArgs args;
  args.layout = layout;
  args.m = matmul.m;
  args.a = frame.at(matmul.a.view);
  args.aRowStride = matmul.a.rowStride;
  args.aColumnStride = matmul.a.columnStride;
  args.aType = matmul.leftType;
  args.keepsDenormals = matmul.keepsDenormals;
  args.c = frame.at(matmul.result);
  args.cType = matmul.resultType;
  args.cRowStride = matmul.n;
  args.batches = matmul.batches;
  args.aBatchStride = matmul.a.batchStride;
  args.packedBBatchStride = isShared ? 0 : layout.bytes();
  args.cBatchStride = matmul.m * matmul.n;
  if (matmul.bias)
    args.epilogue.bias = frame.at(*matmul.bias);
  if (matmul.residual) {
    args.epilogue.residual = frame.at(*matmul.residual);
    args.epilogue.residualRowStride = matmul.n;
    args.epilogue.residualBatchStride = matmul.m * matmul.n;
  }
  args.epilogue.activation = matmul.activation;
  return args;
}

Result<Packed> MatmulStep::pack(const Frame &frame) const {
  PackedCache::Pack pack = [&]() -> Result<Packed> {
    TORCHERE_ASSIGN(std::shared_ptr<std::byte[]> memory, PackedRegion::allocate(packedBytes()));
    for (int64_t batch = 0; batch < matrices(); ++batch) {
      const std::byte *b =
          frame.at(matmul.b.view) + batch * matmul.b.batchStride * matmul.b.view.elementSize();
      packMatrix(frame.context, layout, b, matmul.b.rowStride, matmul.b.columnStride,
                 memory.get() + batch * layout.bytes());
    }
    return Packed(std::move(memory));
  };
  if (matmul.isConstant)
    return cache.findConstant(pack);
  if (matmul.weight)
    return cache.find(frame.origins[*matmul.weight], pack);
  return nullptr;
}

double MatmulStep::flops() const {
  return 2.0 * double(matmul.batches) * double(matmul.m) * double(matmul.k) * double(matmul.n);
}

bool MatmulStep::packs(BufferId buffer) const {
  return matmul.weight && !isOfColumn() && buffer == matmul.b.view.buffer && buffer != matmul.a.view.buffer;
}

void MatmulStep::addPackings(std::vector<Packing> &packings) const {
  if (matmul.weight && !isOfColumn())
    packings.push_back({*matmul.weight, cache.layoutName(), packedBytes()});
}

Status MatmulStep::prepare(const Frame &frame) const {
  if (hasPackedWeight(frame) && !isOfColumn())
    TORCHERE_TRY(pack(frame));
  return {};
}

bool MatmulStep::hasPackedWeight(const Frame &frame) const {
  return matmul.isConstant || (matmul.weight && frame.origins[*matmul.weight].isWeight);
}

/// Nothing else is computed of it.
static bool isPlain(const Matmul &matmul) {
  return !matmul.bias && !matmul.residual && matmul.activation == Activation::None && !matmul.choice;
}

static bool isDenseAlongOne(const MatrixView &matrix) {
  return matrix.columnStride == 1 || matrix.rowStride == 1;
}

/// A matrix times one column, which is not packed.
bool MatmulStep::isOfColumn() const {
  return matmul.n == 1 && isPlain(matmul) && isDenseAlongOne(matmul.a) &&
         hasMatrixVector(matmul.leftType, matmul.type, matmul.resultType);
}

/// One row times a matrix. A weight is packed for it.
bool MatmulStep::isOfRow() const {
  return matmul.m == 1 && isPlain(matmul) && isDenseAlongOne(matmul.b) &&
         hasMatrixVector(matmul.type, matmul.leftType, matmul.resultType);
}

void MatmulStep::runByVector(const Frame &frame) const {
  bool isColumn = matmul.n == 1;
  const MatrixView &matrix = isColumn ? matmul.a : matmul.b, &vector = isColumn ? matmul.b : matmul.a;
  MatrixVectorArgs args;
  args.type = isColumn ? matmul.leftType : matmul.type;
  args.vectorType = isColumn ? matmul.type : matmul.leftType;
  args.batches = matmul.batches;
  args.m = isColumn ? matmul.m : matmul.n;
  args.n = matmul.k;
  args.a = frame.at(matrix.view);
  args.aBatchStride = matrix.batchStride;
  args.aRowStride = isColumn ? matrix.rowStride : matrix.columnStride;
  args.aColumnStride = isColumn ? matrix.columnStride : matrix.rowStride;
  args.b = frame.at(vector.view);
  args.bBatchStride = vector.batchStride;
  args.bStride = isColumn ? vector.rowStride : vector.columnStride;
  args.c = frame.at(matmul.result);
  multiplyByVector(frame.context, args);
}

/// The matrix of those that there are.
int64_t MatmulStep::chosen(const Frame &frame) const {
  return matmul.choice ? std::clamp<int64_t>(integerAt(frame, *matmul.choice), 0, matmul.choices - 1) : 0;
}

Status MatmulStep::run(const Frame &frame) const {
  // The same sums for another use of an argument: by packed panels they would have another order.
  if (isOfColumn() || (isOfRow() && !hasPackedWeight(frame))) {
    runByVector(frame);
    return {};
  }
  TORCHERE_ASSIGN(Packed packed, pack(frame));
  if (packed) {
    GemmArgs args = gemmOn(frame);
    args.packedB = packed.get() + chosen(frame) * layout.bytes();
    gemm(frame.context, args);
    return {};
  }
  MatmulArgs args;
  args.gemm = gemmOn(frame);
  args.b = frame.at(matmul.b.view) + chosen(frame) * matmul.b.batchStride * matmul.b.view.elementSize();
  args.bRowStride = matmul.b.rowStride;
  args.bColumnStride = matmul.b.columnStride;
  args.bBatchStride = isShared ? 0 : matmul.b.batchStride;
  int64_t workspace = matmulWorkspaceBytes(args);
  args.workspace = ThreadPool::scratch(static_cast<size_t>(workspace), scratchSlot);
  cpu::matmul(frame.context, args);
  return {};
}

static Status checkTypes(const Matmul &matmul) {
  DType type = matmul.type, left = matmul.leftType;
  bool isHalf = type == DType::BF16 || type == DType::F16;
  bool isWord = type == DType::I32 || type == DType::I64 || type == DType::U32 || type == DType::U64;
  TORCHERE_TRY(expect(isHalf || isWord || isByteInteger(type) || type == DType::F32 || type == DType::F64,
                      "a product of {}", dtypeInfo(type).shortName));
  TORCHERE_TRY(expect(left == type || (isByteInteger(left) && isByteInteger(type)), "a product of {} and {}",
                      dtypeInfo(left).shortName, dtypeInfo(type).shortName));
  bool isOfSums = isByteInteger(type)
                      ? matmul.resultType == DType::I32
                      : matmul.resultType == type || (isHalf && matmul.resultType == DType::F32);
  TORCHERE_TRY(expect(isOfSums, "a product of {} in {}", dtypeInfo(type).shortName,
                      dtypeInfo(matmul.resultType).shortName));
  bool isPlain = !matmul.bias && !matmul.residual && matmul.activation == Activation::None;
  return expect(dtypeInfo(type).isFloatingPoint || isPlain, "what follows a product of integers");
}

Status MatmulStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(checkTypes(matmul));
  int64_t batches = matmul.batches, m = matmul.m, k = matmul.k, n = matmul.n;
  TORCHERE_TRY(expectWithin("sizes of a product", {batches, m, k, n}, 1, mostElements));
  const MatrixView &a = matmul.a, &b = matmul.b;
  TORCHERE_TRY(limits.reads(
      strided(a.view, {{batches, a.batchStride}, {m, a.rowStride}, {k, a.columnStride}}), matmul.leftType));
  if (matmul.choice) {
    TORCHERE_TRY(limits.readsInteger(*matmul.choice));
    TORCHERE_TRY(expectEqual("batches of products with a chosen matrix", batches, int64_t(1)));
    TORCHERE_TRY(expectWithin("matrices", {matmul.choices}, 1, mostElements));
  }
  int64_t matrices = matmul.choice ? matmul.choices : batches;
  TORCHERE_TRY(
      limits.packs(strided(b.view, {{matrices, b.batchStride}, {k, b.rowStride}, {n, b.columnStride}}),
                   matmul.type, matmul.weight, matmul.isConstant));
  int64_t results = boundedProduct({batches, m, n});
  TORCHERE_TRY(limits.writesDense(matmul.result, matmul.resultType, results));
  if (matmul.bias)
    TORCHERE_TRY(limits.readsDense(*matmul.bias, matmul.type == DType::F64 ? DType::F64 : DType::F32, n));
  if (matmul.residual)
    TORCHERE_TRY(limits.readsDense(*matmul.residual, matmul.resultType, results));
  derive(limits.isa());
  return {};
}

} // namespace torchere::cpu
