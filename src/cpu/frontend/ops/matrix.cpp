// Plans linear algebra on batches of matrices.
#include "cpu/execute/matrix_steps.h"
#include "cpu/frontend/fusion/kernel_call.h"
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
  CholeskyArgs args{*type, batchesOf(shape), shape.back(), flagOf(op, "lower")};
  planner.emit(std::make_unique<CholeskyStep>(args, input, result, std::nullopt), {&input, 1}, {&result, 1});
  return true;
}

/// The views of a call's results, which are new.
std::vector<View> allocateResults(Planner &planner, Operation *op) {
  std::vector<View> results;
  for (mlir::Value result : op->getResults())
    results.push_back(planner.allocate(result));
  return results;
}

/// With the first minor that is not positive definite.
Result<bool> planCholeskyCall(Planner &planner, Operation *op) {
  Sizes shape = shapeOf(op->getOperand(0));
  TORCHERE_ASSIGN(View input, planner.viewDense(op->getOperand(0)));
  std::vector<View> results = allocateResults(planner, op);
  CholeskyArgs args{*matrixTypeOf(op->getOperand(0)), batchesOf(shape), shape.back()};
  planner.emit(std::make_unique<CholeskyStep>(args, input, results[0], results[1]), {&input, 1}, results);
  return true;
}

Result<bool> planLu(Planner &planner, Operation *op) {
  Sizes shape = shapeOf(op->getOperand(0));
  TORCHERE_ASSIGN(View input, planner.viewDense(op->getOperand(0)));
  std::vector<View> results = allocateResults(planner, op);
  LuArgs args;
  args.type = *matrixTypeOf(op->getOperand(0));
  args.batches = batchesOf(shape);
  args.rows = shape[shape.size() - 2];
  args.columns = shape.back();
  args.firstRow = static_cast<int32_t>(kernelInteger(op, "first_row"));
  planner.emit(std::make_unique<LuStep>(args, input, results[0], results[1], results[2], results[3]),
               {&input, 1}, results);
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

Result<bool> planQr(Planner &planner, Operation *op) {
  Sizes shape = shapeOf(op->getOperand(0));
  TORCHERE_ASSIGN(View input, planner.viewDense(op->getOperand(0)));
  std::vector<View> results = allocateResults(planner, op);
  QrArgs args{*matrixTypeOf(op->getOperand(0)), batchesOf(shape), shape[shape.size() - 2], shape.back()};
  planner.emit(std::make_unique<QrStep>(args, input, results[0], results[1]), {&input, 1}, results);
  return true;
}

Result<bool> planReflectors(Planner &planner, Operation *op) {
  std::vector<View> reads;
  for (mlir::Value operand : op->getOperands()) {
    TORCHERE_ASSIGN(reads.emplace_back(), planner.viewDense(operand));
  }
  Sizes shape = shapeOf(op->getOperand(0));
  ReflectorsArgs args;
  args.type = *matrixTypeOf(op->getOperand(0));
  args.batches = batchesOf(shape);
  args.rows = shape[shape.size() - 2];
  args.columns = shape.back();
  args.packedColumns = reads[1].shape.back();
  args.count = reads[2].shape.back();
  args.isAdjoint = kernelFlag(op, "adjoint");
  View result = planner.allocate(op->getResult(0));
  planner.emit(std::make_unique<ReflectorsStep>(args, reads[0], reads[1], reads[2], result), reads,
               {&result, 1});
  return true;
}

/// With vectors or without.
Result<bool> planEigenvalues(Planner &planner, Operation *op) {
  Sizes shape = shapeOf(op->getOperand(0));
  TORCHERE_ASSIGN(View input, planner.viewDense(op->getOperand(0)));
  std::vector<View> results = allocateResults(planner, op);
  EigenArgs args{*matrixTypeOf(op->getOperand(0)), batchesOf(shape), shape.back()};
  std::optional<View> vectors = results.size() > 1 ? std::optional(results[1]) : std::nullopt;
  planner.emit(std::make_unique<EigenStep>(args, input, results[0], vectors), {&input, 1}, results);
  return true;
}

Result<bool> planSingularValues(Planner &planner, Operation *op) {
  Sizes shape = shapeOf(op->getOperand(0));
  TORCHERE_ASSIGN(View input, planner.viewDense(op->getOperand(0)));
  std::vector<View> results = allocateResults(planner, op);
  SingularArgs args{*matrixTypeOf(op->getOperand(0)), batchesOf(shape), shape[shape.size() - 2],
                    shape.back()};
  if (results.size() == 1) {
    planner.emit(std::make_unique<SingularStep>(args, input, results[0], std::nullopt, std::nullopt),
                 {&input, 1}, results);
    return true;
  }
  args.isFull = results[0].shape.back() == args.rows && results[2].shape.rbegin()[1] == args.columns;
  planner.emit(std::make_unique<SingularStep>(args, input, results[1], results[0], results[2]), {&input, 1},
               results);
  return true;
}

} // namespace

void addMatrix(PlannerTable &table) {
  table.addCall("torchere_cpu.cholesky", planCholeskyCall);
  table.addCall("torchere_cpu.eigenvalues", planEigenvalues);
  table.addCall("torchere_cpu.lu", planLu);
  table.addCall("torchere_cpu.qr", planQr);
  table.addCall("torchere_cpu.reflectors", planReflectors);
  table.addCall("torchere_cpu.singular_values", planSingularValues);
  table.add("stablehlo.cholesky", planCholesky);
  table.add("stablehlo.triangular_solve", planTriangularSolve);
}

} // namespace torchere::cpu
