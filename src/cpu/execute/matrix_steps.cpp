// Implements the steps of linear algebra.
#include "cpu/execute/matrix_steps.h"

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

} // namespace torchere::cpu
