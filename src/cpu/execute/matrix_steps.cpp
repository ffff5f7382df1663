// Implements the steps of linear algebra.
#include "cpu/execute/matrix_steps.h"

#include "cpu/plan/limits.h"

namespace torchere::cpu {

Status CholeskyStep::run(const Frame &frame) const {
  CholeskyArgs call = args;
  call.input = frame.at(input);
  call.output = frame.at(result);
  call.firstWrong = firstWrong ? reinterpret_cast<int32_t *>(frame.at(*firstWrong)) : nullptr;
  cholesky(frame.context, call);
  return {};
}

Status LuStep::run(const Frame &frame) const {
  LuArgs call = args;
  call.input = frame.at(input);
  call.output = frame.at(result);
  call.pivots = reinterpret_cast<int32_t *>(frame.at(pivots));
  call.permutation = reinterpret_cast<int32_t *>(frame.at(permutation));
  call.firstZero = reinterpret_cast<int32_t *>(frame.at(firstZero));
  factorizeLu(frame.context, call);
  return {};
}

Status QrStep::run(const Frame &frame) const {
  QrArgs call = args;
  call.input = frame.at(input);
  call.output = frame.at(result);
  call.tau = frame.at(tau);
  factorizeQr(frame.context, call);
  return {};
}

Status ReflectorsStep::run(const Frame &frame) const {
  ReflectorsArgs call = args;
  call.input = frame.at(input);
  call.packed = frame.at(packed);
  call.tau = frame.at(tau);
  call.output = frame.at(result);
  applyReflectors(frame.context, call);
  return {};
}

Status EigenStep::run(const Frame &frame) const {
  EigenArgs call = args;
  call.input = frame.at(input);
  call.values = frame.at(values);
  call.vectors = vectors ? frame.at(*vectors) : nullptr;
  findEigenvalues(frame.context, call);
  return {};
}

Status SingularStep::run(const Frame &frame) const {
  SingularArgs call = args;
  call.input = frame.at(input);
  call.values = frame.at(values);
  call.u = u ? frame.at(*u) : nullptr;
  call.vh = vh ? frame.at(*vh) : nullptr;
  findSingularValues(frame.context, call);
  return {};
}

Status TriangularSolveStep::run(const Frame &frame) const {
  TriangularSolveArgs call = args;
  call.a = frame.at(a);
  call.b = frame.at(b);
  call.output = frame.at(result);
  solveTriangular(frame.context, call);
  return {};
}

static Status checkNumber(DType type) {
  return expect(type == DType::F32 || type == DType::F64 || type == DType::C64 || type == DType::C128,
                "a matrix of {}", dtypeInfo(type).shortName);
}

Status CholeskyStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(checkNumber(args.type));
  int64_t count = boundedProduct({args.batches, args.size, args.size});
  TORCHERE_TRY(limits.readsDense(input, args.type, count));
  if (firstWrong)
    TORCHERE_TRY(limits.writesDense(*firstWrong, DType::I32, args.batches));
  return limits.writesDense(result, args.type, count);
}

Status LuStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(checkNumber(args.type));
  TORCHERE_TRY(expect(args.rows <= std::numeric_limits<int32_t>::max() && args.columns >= 0,
                      "rows: got {}, expected a number of 32 bits", args.rows));
  int64_t count = boundedProduct({args.batches, args.rows, args.columns});
  TORCHERE_TRY(limits.readsDense(input, args.type, count));
  TORCHERE_TRY(limits.writesDense(result, args.type, count));
  int64_t steps = std::min(args.rows, args.columns);
  TORCHERE_TRY(limits.writesDense(pivots, DType::I32, boundedProduct({args.batches, steps})));
  TORCHERE_TRY(limits.writesDense(permutation, DType::I32, boundedProduct({args.batches, args.rows})));
  return limits.writesDense(firstZero, DType::I32, args.batches);
}

Status QrStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(checkNumber(args.type));
  int64_t count = boundedProduct({args.batches, args.rows, args.columns});
  TORCHERE_TRY(limits.readsDense(input, args.type, count));
  TORCHERE_TRY(limits.writesDense(result, args.type, count));
  return limits.writesDense(tau, args.type,
                            boundedProduct({args.batches, std::min(args.rows, args.columns)}));
}

Status ReflectorsStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(checkNumber(args.type));
  TORCHERE_TRY(expect(args.count <= std::min(args.rows, args.packedColumns),
                      "reflectors: got {} in {} rows and {} columns", args.count, args.rows,
                      args.packedColumns));
  int64_t count = boundedProduct({args.batches, args.rows, args.columns});
  TORCHERE_TRY(limits.readsDense(input, args.type, count));
  TORCHERE_TRY(
      limits.readsDense(packed, args.type, boundedProduct({args.batches, args.rows, args.packedColumns})));
  TORCHERE_TRY(limits.readsDense(tau, args.type, boundedProduct({args.batches, args.count})));
  return limits.writesDense(result, args.type, count);
}

/// Orders are of 32 bits, and a kernel has several times a matrix in scratch memory.
static Status checkSides(int64_t rows, int64_t columns) {
  return expect(rows > 0 && columns > 0 && rows <= std::numeric_limits<int32_t>::max() &&
                    columns <= std::numeric_limits<int32_t>::max(),
                "sides of a matrix: got {} and {}, expected positive numbers of 32 bits", rows, columns);
}

Status EigenStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(checkNumber(args.type));
  TORCHERE_TRY(checkSides(args.size, args.size));
  int64_t count = boundedProduct({args.batches, args.size, args.size});
  TORCHERE_TRY(limits.readsDense(input, args.type, count));
  if (vectors)
    TORCHERE_TRY(limits.writesDense(*vectors, args.type, count));
  return limits.writesDense(values, partType(args.type), boundedProduct({args.batches, args.size}));
}

Status SingularStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(checkNumber(args.type));
  TORCHERE_TRY(checkSides(args.rows, args.columns));
  TORCHERE_TRY(expect(u.has_value() == vh.has_value(), "one side's singular vectors alone"));
  int64_t least = std::min(args.rows, args.columns);
  TORCHERE_TRY(limits.readsDense(input, args.type, boundedProduct({args.batches, args.rows, args.columns})));
  if (u) {
    int64_t ofU = args.isFull ? args.rows : least, ofVh = args.isFull ? args.columns : least;
    TORCHERE_TRY(limits.writesDense(*u, args.type, boundedProduct({args.batches, args.rows, ofU})));
    TORCHERE_TRY(limits.writesDense(*vh, args.type, boundedProduct({args.batches, ofVh, args.columns})));
  }
  return limits.writesDense(values, partType(args.type), boundedProduct({args.batches, least}));
}

Status TriangularSolveStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(checkNumber(args.type));
  int64_t count = boundedProduct({args.batches, args.size, args.columns});
  TORCHERE_TRY(limits.readsDense(a, args.type, boundedProduct({args.batches, args.size, args.size})));
  TORCHERE_TRY(limits.readsDense(b, args.type, count));
  return limits.writesDense(result, args.type, count);
}

} // namespace torchere::cpu
