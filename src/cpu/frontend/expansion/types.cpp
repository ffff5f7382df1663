// Expands types: ops whose kernels have few types, by conversions to these and back.
#include "cpu/frontend/expansion/expansion.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "passes/chlo/formula.h"
#include "stablehlo/dialect.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

using passes::FormulaBuilder;

Type elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

bool isFloatOf(Type type, std::initializer_list<unsigned> widths) {
  return isa<mlir::FloatType>(type) && llvm::is_contained(widths, type.getIntOrFloatBitWidth());
}

bool isComplexOp(Operation *op) {
  auto isComplex = [](Value value) { return isa<ComplexType>(elementOf(value)); };
  return llvm::all_of(op->getOperands(), isComplex) && llvm::all_of(op->getResults(), isComplex);
}

/// The type of sums of an element type: f32 or f64, 32 or 64 bits.
Type sumTypeOf(Type type) {
  Builder builder(type.getContext());
  if (isa<mlir::FloatType>(type))
    return type.isF64() ? type : Type(builder.getF32Type());
  auto integer = cast<IntegerType>(type);
  if (integer.getWidth() == 1)
    return builder.getI32Type();
  return IntegerType::get(type.getContext(), integer.getWidth() > 32 ? 64 : 32, integer.getSignedness());
}

bool isByte(Type type) {
  return type.isInteger(8);
}

/// Whether products have a kernel for it: of equal factors, whose halves may give f32, or of bytes.
bool hasProductKernel(Operation *op) {
  Type left = elementOf(op->getOperand(0)), right = elementOf(op->getOperand(1)),
       result = elementOf(op->getResult(0));
  if (isByte(left) && isByte(right) && isa<stablehlo::DotGeneralOp>(op))
    return result.isSignlessInteger(32);
  if (left != right)
    return false;
  if (isFloatOf(left, {16}) && isa<stablehlo::DotGeneralOp>(op))
    return result == left || result.isF32();
  return result == left && sumTypeOf(left) == left;
}

/// The op on other operands, with a result of another element type.
Value cloned(OpBuilder &builder, Operation *op, ValueRange operands, Type element) {
  Operation *clone = builder.clone(*op);
  clone->setOperands(operands);
  Value result = clone->getResult(0);
  result.setType(cast<RankedTensorType>(result.getType()).clone(element));
  return result;
}

void replaceBy(Operation *op, Value result) {
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

struct ComplexParts {
  Value real, imaginary;
};

ComplexParts partsOf(FormulaBuilder &formula, Value value) {
  Type part = cast<ComplexType>(elementOf(value)).getElementType();
  return {formula.retyped<stablehlo::RealOp>(value, part), formula.retyped<stablehlo::ImagOp>(value, part)};
}

/// One that has a kernel, of one type; else, as of a convolution, four real ones: (a + b i) (c + d i).
void replaceComplexProduct(Operation *op) {
  OpBuilder builder(op);
  auto dot = dyn_cast<stablehlo::DotGeneralOp>(op);
  bool isOfOneType = llvm::all_of(
      op->getOperands(), [&](Value operand) { return elementOf(operand) == elementOf(op->getResult(0)); });
  if (dot && isOfOneType && cast<RankedTensorType>(dot.getType()).hasStaticShape()) {
    NamedAttribute numbers = builder.getNamedAttr("dot_dimension_numbers", dot.getDotDimensionNumbers());
    return replaceBy(op, createKernelCall(builder, op->getLoc(), "complex_product", op->getResultTypes(),
                                          op->getOperands(), numbers)
                             ->getResult(0));
  }
  FormulaBuilder formula(builder, op->getLoc(), op->getOperand(0));
  ComplexParts left = partsOf(formula, op->getOperand(0)), right = partsOf(formula, op->getOperand(1));
  Type part = cast<ComplexType>(elementOf(op->getResult(0))).getElementType();
  auto product = [&](Value a, Value b) { return cloned(builder, op, {a, b}, part); };
  Value real = formula.elementwise<stablehlo::SubtractOp>(
      {product(left.real, right.real), product(left.imaginary, right.imaginary)});
  Value imaginary = formula.elementwise<stablehlo::AddOp>(
      {product(left.real, right.imaginary), product(left.imaginary, right.real)});
  replaceBy(op, formula.retyped<stablehlo::ComplexOp>({real, imaginary}, elementOf(op->getResult(0))));
}

/// Of integers of at most 8 bits: as bytes, whose sums have 32 bits, or their lower half.
bool replaceSmallProduct(Operation *op) {
  auto isSmall = [](Value value) {
    auto integer = dyn_cast<IntegerType>(elementOf(value));
    return integer && integer.getWidth() > 1 && integer.getWidth() <= 8;
  };
  auto result = dyn_cast<IntegerType>(elementOf(op->getResult(0)));
  bool fits = isa<stablehlo::DotGeneralOp>(op) && llvm::all_of(op->getOperands(), isSmall) && result &&
              result.getWidth() > 1 && result.getWidth() <= 32;
  if (!fits)
    return false;
  OpBuilder builder(op);
  FormulaBuilder formula(builder, op->getLoc(), op->getOperand(0));
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    auto given = cast<IntegerType>(elementOf(operand));
    operands.push_back(
        formula.convert(operand, IntegerType::get(op->getContext(), 8, given.getSignedness())));
  }
  replaceBy(op, formula.convert(cloned(builder, op, operands, builder.getI32Type()), result));
  return true;
}

/// A contraction or convolution in the type of its sums.
void replaceProduct(Operation *op) {
  Type result = elementOf(op->getResult(0));
  if (isComplexOp(op))
    return replaceComplexProduct(op);
  if (!result.isIntOrFloat() || !elementOf(op->getOperand(0)).isIntOrFloat() || hasProductKernel(op))
    return;
  if (replaceSmallProduct(op))
    return;
  OpBuilder builder(op);
  FormulaBuilder formula(builder, op->getLoc(), op->getOperand(0));
  Type sum = sumTypeOf(result);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    bool isOtherKind = isa<mlir::FloatType>(elementOf(operand)) != isa<mlir::FloatType>(result);
    Value given = isOtherKind ? formula.convert(operand, result) : operand;
    // A bool is a one; in the type of the sums, so is what was converted to a bool.
    operands.push_back(formula.convert(given, sum));
  }
  replaceBy(op, formula.convert(cloned(builder, op, operands, sum), result));
}

/// Whether the body is one op on the two arguments.
Operation *onlyOpOf(Region &body) {
  Block &block = body.front();
  if (block.getNumArguments() != 2 || !llvm::hasNItems(block, 2))
    return nullptr;
  Operation &op = block.front();
  Operation *end = block.getTerminator();
  bool isOnly = op.getNumOperands() == 2 && op.getNumResults() == 1 && end->getNumOperands() == 1 &&
                end->getOperand(0) == op.getResult(0);
  return isOnly ? &op : nullptr;
}

/// The reduction of other operands in their type.
Value reducedAs(OpBuilder &builder, Operation *op, Value input, Value initial) {
  Type element = elementOf(input);
  Value result = cloned(builder, op, {input, initial}, element);
  auto scalar = RankedTensorType::get({}, element);
  Block &block = result.getDefiningOp()->getRegion(0).front();
  for (Value argument : block.getArguments())
    argument.setType(scalar);
  block.front().getResult(0).setType(scalar);
  return result;
}

/// A reduction of small numbers in their sums' type, which is rounded once; a sum of complex ones, also in
/// windows, by its parts.
void replaceReduction(Operation *op) {
  Operation *join = op->getNumOperands() == 2 ? onlyOpOf(op->getRegion(0)) : nullptr;
  Type element = elementOf(op->getOperand(0));
  bool isOneType = elementOf(op->getOperand(1)) == element && elementOf(op->getResult(0)) == element &&
                   join && elementOf(join->getResult(0)) == element &&
                   elementOf(join->getOperand(0)) == element;
  if (!isOneType)
    return;
  OpBuilder builder(op);
  FormulaBuilder formula(builder, op->getLoc(), op->getOperand(0));
  if (isa<ComplexType>(element) && isa<stablehlo::AddOp>(join)) {
    ComplexParts input = partsOf(formula, op->getOperand(0)), initial = partsOf(formula, op->getOperand(1));
    Value real = reducedAs(builder, op, input.real, initial.real);
    Value imaginary = reducedAs(builder, op, input.imaginary, initial.imaginary);
    return replaceBy(op, formula.retyped<stablehlo::ComplexOp>({real, imaginary}, element));
  }
  bool isSmall = isa<stablehlo::ReduceOp>(op) && element.isIntOrFloat() &&
                 element.getIntOrFloatBitWidth() < (isa<mlir::FloatType>(element) ? 16 : 8) &&
                 !element.isInteger(1);
  if (!isSmall || !isa<stablehlo::AddOp, stablehlo::MulOp, stablehlo::MaxOp, stablehlo::MinOp>(join))
    return;
  Value input = formula.convert(op->getOperand(0), sumTypeOf(element));
  Value initial = formula.convert(op->getOperand(1), sumTypeOf(element));
  replaceBy(op, formula.convert(reducedAs(builder, op, input, initial), element));
}

/// Indices as i32, which all types hold.
void replaceIota(Operation *op) {
  Type element = elementOf(op->getResult(0));
  bool isWhole =
      element.isIntOrFloat() && element.getIntOrFloatBitWidth() >= (isa<mlir::FloatType>(element) ? 16 : 8);
  if (isWhole)
    return;
  OpBuilder builder(op);
  Value indices = cloned(builder, op, {}, builder.getI32Type());
  replaceBy(op, FormulaBuilder(builder, op->getLoc(), indices).convert(indices, element));
}

} // namespace

void expandTypes(func::FuncOp function) {
  SmallVector<Operation *> found;
  function.walk([&](Operation *op) {
    if (isa<stablehlo::ConvolutionOp, stablehlo::DotGeneralOp, stablehlo::IotaOp, stablehlo::ReduceOp,
            stablehlo::ReduceWindowOp>(op))
      found.push_back(op);
  });
  for (Operation *op : found) {
    auto isStatic = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.hasStaticShape();
    };
    if (!llvm::all_of(op->getOperandTypes(), isStatic) || !llvm::all_of(op->getResultTypes(), isStatic))
      continue;
    if (isa<stablehlo::IotaOp>(op))
      replaceIota(op);
    else if (isa<stablehlo::ReduceOp, stablehlo::ReduceWindowOp>(op))
      replaceReduction(op);
    else
      replaceProduct(op);
  }
}

} // namespace torchere::cpu
