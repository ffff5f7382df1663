// Implements ComplexProductStep.
#include "cpu/execute/complex_product_step.h"

#include "cpu/plan/limits.h"

namespace torchere::cpu {

Status ComplexProductStep::run(const Frame &frame) const {
  ComplexProductArgs call = args;
  call.a = frame.at(a.view);
  call.aBatchStride = a.batchStride;
  call.aRowStride = a.rowStride;
  call.aColumnStride = a.columnStride;
  call.b = frame.at(b.view);
  call.bBatchStride = b.batchStride;
  call.bRowStride = b.rowStride;
  call.bColumnStride = b.columnStride;
  call.c = frame.at(result);
  multiplyComplex(frame.context, call);
  return {};
}

double ComplexProductStep::flops() const {
  return 8.0 * static_cast<double>(args.batches) * static_cast<double>(args.m) * static_cast<double>(args.k) *
         static_cast<double>(args.n);
}

Status ComplexProductStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(expect(args.type == DType::C64 || args.type == DType::C128, "a complex product of {}",
                      dtypeInfo(args.type).shortName));
  int64_t batches = args.batches, m = args.m, k = args.k, n = args.n;
  TORCHERE_TRY(expectWithin("sizes of a product", {batches, m, k, n}, 1, mostElements));
  TORCHERE_TRY(limits.reads(
      strided(a.view, {{batches, a.batchStride}, {m, a.rowStride}, {k, a.columnStride}}), args.type));
  TORCHERE_TRY(limits.reads(
      strided(b.view, {{batches, b.batchStride}, {k, b.rowStride}, {n, b.columnStride}}), args.type));
  return limits.writesDense(result, args.type, boundedProduct({batches, m, n}));
}

} // namespace torchere::cpu
