// Implements the steps of linear algebra.
#include "cpu/execute/matrix_steps.h"

#include "cpu/plan/limits.h"

namespace torchere::cpu {

Status CholeskyStep::run(const Frame &frame) const {
  CholeskyArgs call = args;
  call.input = frame.at(input);
  call.output = frame.at(result);
  cholesky(frame.context, call);
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
  return limits.writesDense(result, args.type, count);
}

Status TriangularSolveStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(checkNumber(args.type));
  int64_t count = boundedProduct({args.batches, args.size, args.columns});
  TORCHERE_TRY(limits.readsDense(a, args.type, boundedProduct({args.batches, args.size, args.size})));
  TORCHERE_TRY(limits.readsDense(b, args.type, count));
  return limits.writesDense(result, args.type, count);
}

} // namespace torchere::cpu
