// Plans linear algebra on batches of matrices.
#include "cpu/execute/matrix_steps.h"
#include "cpu/frontend/planner.h"
#include "stablehlo/dialect.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

std::optional<DType> matrixTypeOf(mlir::Value value) {
  std::optional<DType> type = dtypeOf(value);
  bool hasKernel = type == DType::F32 || type == DType::F64 || type == DType::C64 || type == DType::C128;
  return hasKernel ? type : std::nullopt;
}

int64_t batchesOf(const Sizes &shape) {
  return elementCount(std::span(shape).first(shape.size() - 2));
}

bool flagOf(Operation *op, StringRef name) {
  auto flag = op->getAttrOfType<BoolAttr>(name);
  return flag && flag.getValue();
}

Result<bool> planCholesky(Planner &planner, Operation *op) {
  std::optional<DType> type = matrixTypeOf(op->getOperand(0));
  if (!type)
    return false;
  Sizes shape = shapeOf(op->getOperand(0));
  TORCHERE_ASSIGN(View input, planner.viewDense(op->getOperand(0)));
  View result = planner.allocate(op->getResult(0));
  CholeskyArgs args{*type, batchesOf(shape), shape.back(), flagOf(op, "lower"), nullptr, nullptr};
  planner.emit(std::make_unique<CholeskyStep>(args, input, result), {&input, 1}, {&result, 1});
  return true;
}

Result<bool> planTriangularSolve(Planner &planner, Operation *op) {
  std::optional<DType> type = matrixTypeOf(op->getOperand(0));
  if (!type || type != matrixTypeOf(op->getOperand(1)))
    return false;
  Sizes shape = shapeOf(op->getOperand(1));
  auto transpose = cast<stablehlo::TransposeAttr>(op->getAttr("transpose_a")).getValue();
  TriangularSolveArgs args;
  args.type = *type;
  args.batches = batchesOf(shape);
  args.isLeft = flagOf(op, "left_side");
  args.isLower = flagOf(op, "lower");
  args.isUnit = flagOf(op, "unit_diagonal");
  args.isConjugate = transpose == stablehlo::Transpose::ADJOINT;
  args.isTransposed = args.isConjugate || transpose == stablehlo::Transpose::TRANSPOSE;
  args.size = shape[shape.size() - (args.isLeft ? 2 : 1)];
  args.columns = shape[shape.size() - (args.isLeft ? 1 : 2)];
  TORCHERE_ASSIGN(View a, planner.viewDense(op->getOperand(0)));
  TORCHERE_ASSIGN(View b, planner.viewDense(op->getOperand(1)));
  View result = planner.allocate(op->getResult(0));
  std::vector<View> reads{a, b};
  planner.emit(std::make_unique<TriangularSolveStep>(args, a, b, result), reads, {&result, 1});
  return true;
}

} // namespace

void addMatrix(PlannerTable &table) {
  table.add("stablehlo.cholesky", planCholesky);
  table.add("stablehlo.triangular_solve", planTriangularSolve);
}

} // namespace torchere::cpu
