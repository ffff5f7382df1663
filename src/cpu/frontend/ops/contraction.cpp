// Plans matrix products.
#include "cpu/execute/complex_product_step.h"
#include "cpu/execute/matmul_step.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/planner.h"
#include "passes/precision/products.h"
#include "stablehlo/dialect.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// Dimensions of a view as one.
struct Run {
  int64_t size = 1;
  int64_t stride = 0;
};

/// None if no single stride walks them.
std::optional<Run> joined(const View &view, ArrayRef<int64_t> dimensions) {
  Sizes shape, strides;
  for (int64_t dimension : dimensions) {
    shape.push_back(view.shape[static_cast<size_t>(dimension)]);
    strides.push_back(view.strides[static_cast<size_t>(dimension)]);
  }
  const Sizes *all[] = {&strides};
  Walk walk = walkOver(shape, all);
  if (walk.shape.size() > 1)
    return std::nullopt;
  if (walk.shape.empty())
    return Run{1, 0};
  return Run{walk.shape[0], walk.strides[0][0]};
}

/// An operand of a product: which dimensions are of the batch, of its own, and summed over.
struct Factor {
  mlir::Value value;
  SmallVector<int64_t> batch, own, summed;
};

/// A factor as a batch of matrices.
struct Matrices {
  View view;
  Run batch, own, summed;
};

std::optional<Matrices> matricesOf(const View &view, const Factor &factor) {
  std::optional<Run> batch = joined(view, factor.batch), own = joined(view, factor.own),
                     summed = joined(view, factor.summed);
  if (!batch || !own || !summed)
    return std::nullopt;
  return Matrices{view, *batch, *own, *summed};
}

/// By strides where it lies, or else in a copy in the order of batch, own, summed.
Result<Matrices> layOut(Planner &planner, const Factor &factor) {
  TORCHERE_ASSIGN(View view, planner.view(factor.value));
  if (std::optional<Matrices> found = matricesOf(view, factor))
    return *found;
  SmallVector<int64_t> order(factor.batch);
  order.append(factor.own);
  order.append(factor.summed);
  View ordered = transposed(view, order);
  TORCHERE_ASSIGN(View copy, planner.copyOf(ordered));
  Factor inOrder = factor;
  int64_t next = 0;
  for (SmallVector<int64_t> *dimensions : {&inOrder.batch, &inOrder.own, &inOrder.summed})
    for (int64_t &dimension : *dimensions)
      dimension = next++;
  return *matricesOf(copy, inOrder);
}

Factor factorOf(mlir::Value value, ArrayRef<int64_t> batch, ArrayRef<int64_t> summed) {
  Factor factor{value, SmallVector<int64_t>(batch), {}, SmallVector<int64_t>(summed)};
  auto rank = static_cast<int64_t>(shapeOf(value).size());
  for (int64_t dimension = 0; dimension < rank; ++dimension)
    if (!llvm::is_contained(batch, dimension) && !llvm::is_contained(summed, dimension))
      factor.own.push_back(dimension);
  return factor;
}

struct ProductTypes {
  DType left, right, result;
};

/// The types of factors and result that the kernels have.
std::optional<ProductTypes> typesOfProduct(Operation *op) {
  std::optional<DType> left = dtypeOf(op->getOperand(0)), right = dtypeOf(op->getOperand(1)),
                       result = dtypeOf(op->getResult(0));
  if (isByteInteger(left) && isByteInteger(right) && result == DType::I32)
    return ProductTypes{*left, *right, *result};
  if (!left || !result || left != right)
    return std::nullopt;
  ElementType element = elementTypeOf(op->getOperand(0));
  if (isInteger(element) && elementTypeInfo(element).bits >= 32 && result == left)
    return ProductTypes{*left, *right, *result};
  bool isHalf = left == DType::F16 || left == DType::BF16;
  if (!isHalf && left != DType::F32 && left != DType::F64)
    return std::nullopt;
  if (result != left && !(isHalf && result == DType::F32))
    return std::nullopt;
  return ProductTypes{*left, *right, *result};
}

/// Sums of nothing.
Status planZeros(Planner &planner, mlir::Value value) {
  View result = planner.allocate(value);
  std::vector<std::byte> zero(static_cast<size_t>(result.elementSize()));
  return planner.emitCopy(broadcast(planner.constant(result.type, {}, zero), result.shape, {}), result);
}

/// The product of the first two operands, which have elements. `matmul` has the epilogue, whose views are
/// `reads`.
Result<bool> planProduct(Planner &planner, Operation *op, const Factor &left, const Factor &right,
                         Matmul matmul, std::vector<View> reads) {
  auto types = typesOfProduct(op);
  if (!types)
    return false;
  TORCHERE_ASSIGN(Matrices a, layOut(planner, left));
  TORCHERE_ASSIGN(Matrices b, layOut(planner, right));
  matmul.leftType = types->left;
  matmul.type = types->right;
  matmul.resultType = types->result;
  matmul.batches = a.batch.size;
  matmul.m = a.own.size;
  matmul.k = a.summed.size;
  matmul.n = b.own.size;
  matmul.a = {a.view, a.batch.stride, a.own.stride, a.summed.stride};
  matmul.b = {b.view, b.batch.stride, b.summed.stride, b.own.stride};
  matmul.weight = planner.argumentOf(b.view);
  matmul.isConstant = planner.isConstant(b.view);
  matmul.result = planner.allocate(op->getResult(0));
  reads.push_back(a.view);
  reads.push_back(b.view);
  if (matmul.choice)
    matmul.choices = b.batch.size;
  planner.emit(std::make_unique<MatmulStep>(matmul, planner.isa()), reads, {&matmul.result, 1});
  return true;
}

Result<bool> planProduct(Planner &planner, Operation *op, stablehlo::DotDimensionNumbersAttr numbers,
                         Matmul matmul, std::vector<View> reads) {
  Factor left =
      factorOf(op->getOperand(0), numbers.getLhsBatchingDimensions(), numbers.getLhsContractingDimensions());
  Factor right =
      factorOf(op->getOperand(1), numbers.getRhsBatchingDimensions(), numbers.getRhsContractingDimensions());
  return planProduct(planner, op, left, right, std::move(matmul), std::move(reads));
}

/// With one of several matrices.
Result<bool> planChosenDot(Planner &planner, Operation *op) {
  Matmul matmul;
  matmul.keepsDenormals = kernelFlag(op, "keeps_denormals");
  TORCHERE_ASSIGN(matmul.choice, planner.view(op->getOperand(2)));
  return planProduct(planner, op, factorOf(op->getOperand(0), {}, kernelIntegers(op, "lhs_summed")),
                     factorOf(op->getOperand(1), {0}, kernelIntegers(op, "rhs_summed")), matmul,
                     {*matmul.choice});
}

Result<bool> planComplexProduct(Planner &planner, Operation *op) {
  if (elementCount(shapeOf(op->getOperand(0))) == 0 || elementCount(shapeOf(op->getOperand(1))) == 0) {
    TORCHERE_TRY(planZeros(planner, op->getResult(0)));
    return true;
  }
  stablehlo::DotDimensionNumbersAttr numbers = dotNumbersOf(op);
  TORCHERE_ASSIGN(Matrices a, layOut(planner, factorOf(op->getOperand(0), numbers.getLhsBatchingDimensions(),
                                                       numbers.getLhsContractingDimensions())));
  TORCHERE_ASSIGN(Matrices b, layOut(planner, factorOf(op->getOperand(1), numbers.getRhsBatchingDimensions(),
                                                       numbers.getRhsContractingDimensions())));
  ComplexProductArgs args{*dtypeOf(op->getResult(0)), a.batch.size, a.own.size, a.summed.size, b.own.size};
  View result = planner.allocate(op->getResult(0));
  View reads[] = {a.view, b.view};
  planner.emit(std::make_unique<ComplexProductStep>(
                   args, MatrixView{a.view, a.batch.stride, a.own.stride, a.summed.stride},
                   MatrixView{b.view, b.batch.stride, b.summed.stride, b.own.stride}, result),
               reads, {&result, 1});
  return true;
}

Result<bool> planDot(Planner &planner, Operation *op) {
  if (elementCount(shapeOf(op->getOperand(0))) == 0 || elementCount(shapeOf(op->getOperand(1))) == 0) {
    TORCHERE_TRY(planZeros(planner, op->getResult(0)));
    return true;
  }
  Matmul matmul;
  matmul.keepsDenormals = !passes::hasDefaultPrecision(op);
  return planProduct(planner, op, dotNumbersOf(op), std::move(matmul), {});
}

/// With what a fusion has found behind it.
Result<bool> planFusedDot(Planner &planner, Operation *op) {
  if (elementCount(shapeOf(op->getResult(0))) == 0) { // of an open size that is 0
    planner.allocate(op->getResult(0));
    return true;
  }
  Matmul matmul;
  std::vector<View> reads;
  for (mlir::Value operand : op->getOperands().drop_front(2)) {
    TORCHERE_ASSIGN(View view, planner.viewDense(operand));
    reads.push_back(view);
  }
  bool hasBias = kernelFlag(op, "has_bias");
  if (hasBias)
    matmul.bias = reads.front();
  if (reads.size() > (hasBias ? 1 : 0))
    matmul.residual = reads.back();
  matmul.activation = static_cast<Activation>(kernelInteger(op, "activation"));
  matmul.keepsDenormals = kernelFlag(op, "keeps_denormals");
  return planProduct(planner, op, dotNumbersOf(op), std::move(matmul), std::move(reads));
}

} // namespace

void addContraction(PlannerTable &table) {
  table.addCall("torchere_cpu.chosen_dot", planChosenDot);
  table.addCall("torchere_cpu.complex_product", planComplexProduct);
  table.addCall("torchere_cpu.dot", planFusedDot);
  table.add("stablehlo.dot_general", planDot);
}

} // namespace torchere::cpu
