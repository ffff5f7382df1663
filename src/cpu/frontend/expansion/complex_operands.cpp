// Expands sorts, scatters and products of complex numbers: their parts are operands of their own.
#include "cpu/frontend/expansion/expansion.h"
#include "passes/chlo/formula.h"
#include "stablehlo/dialect.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

using passes::Elements;
using passes::FormulaBuilder;

/// The element type of the parts, if the value is complex.
Type partTypeOf(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  auto complex = tensor && tensor.hasStaticShape() ? dyn_cast<ComplexType>(tensor.getElementType()) : nullptr;
  return complex ? complex.getElementType() : Type();
}

Value realOf(FormulaBuilder &formula, Value value) {
  return formula.retyped<stablehlo::RealOp>(value, partTypeOf(value));
}

Value imaginaryOf(FormulaBuilder &formula, Value value) {
  return formula.retyped<stablehlo::ImagOp>(value, partTypeOf(value));
}

Value joined(FormulaBuilder &formula, Value real, Value imaginary) {
  auto part = cast<RankedTensorType>(real.getType()).getElementType();
  return formula.retyped<stablehlo::ComplexOp>({real, imaginary}, ComplexType::get(part));
}

/// The comparator on parts: it puts a complex number together where it looks at one.
void fillComparator(Operation *from, Operation *to) {
  Block &old = from->getRegion(0).front(), &made = to->getRegion(0).emplaceBlock();
  OpBuilder builder = OpBuilder::atBlockBegin(&made);
  IRMapping mapping;
  for (size_t i = 0; i < from->getNumOperands(); ++i) {
    Value first = old.getArgument(2 * i), second = old.getArgument(2 * i + 1);
    Location location = first.getLoc();
    Type part = partTypeOf(first);
    Type scalar = part ? RankedTensorType::get({}, part) : first.getType();
    Value left = made.addArgument(scalar, location), right = made.addArgument(scalar, location);
    if (part) {
      FormulaBuilder formula(builder, location, left);
      Value leftImaginary = made.addArgument(scalar, location);
      Value rightImaginary = made.addArgument(scalar, location);
      left = joined(formula, left, leftImaginary);
      right = joined(formula, right, rightImaginary);
    }
    mapping.map(first, left);
    mapping.map(second, right);
  }
  for (Operation &op : old)
    builder.clone(op, mapping);
}

void replaceSort(Operation *op) {
  OpBuilder builder(op);
  FormulaBuilder formula(builder, op->getLoc(), op->getOperand(0));
  SmallVector<Value> operands;
  SmallVector<Type> types;
  for (Value operand : op->getOperands()) {
    if (partTypeOf(operand))
      operands.append({realOf(formula, operand), imaginaryOf(formula, operand)});
    else
      operands.push_back(operand);
  }
  for (Value operand : operands)
    types.push_back(operand.getType());
  OperationState state(op->getLoc(), op->getName(), operands, types, op->getAttrs());
  state.addRegion();
  Operation *made = builder.create(state);
  fillComparator(op, made);
  unsigned next = 0;
  for (Value result : op->getResults()) {
    Value value = made->getResult(next++);
    if (partTypeOf(result))
      value = joined(formula, value, made->getResult(next++));
    result.replaceAllUsesWith(value);
  }
  op->erase();
}

/// Whether the op joins complex numbers of one type, by adding or multiplying them.
bool joinsComplexNumbers(Operation *op) {
  if (op->getNumResults() != 1 || !partTypeOf(op->getOperand(0)))
    return false;
  Block &body = op->getRegion(0).front();
  Operation &join = body.front();
  Type element = cast<RankedTensorType>(op->getOperand(0).getType()).getElementType();
  auto isOfType = [&](Value value) {
    return cast<RankedTensorType>(value.getType()).getElementType() == element;
  };
  bool isSum = isa<stablehlo::AddOp>(join) && isa<stablehlo::ScatterOp>(op); // others are expandTypes()'s
  return (isSum || isa<stablehlo::MulOp>(join)) && llvm::hasNItems(body, 2) &&
         body.getTerminator()->getOperand(0) == join.getResult(0) &&
         join.getOperand(0) != join.getOperand(1) && isOfType(op->getResult(0)) &&
         isOfType(op->getOperands().back()) && llvm::all_of(join.getOperands(), [&](Value value) {
           return isa<BlockArgument>(value) && value.getParentBlock() == &body && isOfType(value);
         });
}

/// The sum or the product of two numbers, computed in f64 and rounded.
void fillJoin(Block &body, bool isSum, Type part, Location location) {
  OpBuilder builder(location.getContext());
  builder.setInsertionPointToStart(&body); // which is in no op yet
  for (int i = 0; i < 4; ++i)
    body.addArgument(RankedTensorType::get({}, part), location);
  FormulaBuilder formula(builder, location, body.getArgument(0));
  SmallVector<Elements> numbers;
  for (Value argument : body.getArguments())
    numbers.push_back({formula, formula.convert(argument, builder.getF64Type())});
  Elements a = numbers[0], b = numbers[1], c = numbers[2], d = numbers[3];
  Value real = isSum ? a + c : a * c - b * d;
  Value imaginary = isSum ? b + d : a * d + b * c;
  Value results[] = {formula.convert(real, part), formula.convert(imaginary, part)};
  builder.create(OperationState(location, "stablehlo.return", results, {}));
}

/// A reduction or a scatter of both parts at once.
void replaceJoin(Operation *op) {
  OpBuilder builder(op);
  FormulaBuilder formula(builder, op->getLoc(), op->getOperand(0));
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    if (partTypeOf(operand))
      operands.append({realOf(formula, operand), imaginaryOf(formula, operand)});
    else
      operands.push_back(operand); // a scatter's indices
  }
  Type part = partTypeOf(op->getOperand(0));
  Type result = cast<RankedTensorType>(op->getResult(0).getType()).clone(part);
  OperationState state(op->getLoc(), op->getName(), operands, {result, result}, op->getAttrs());
  bool isSum = isa<stablehlo::AddOp>(op->getRegion(0).front().front());
  fillJoin(state.addRegion()->emplaceBlock(), isSum, part, op->getLoc());
  Operation *made = builder.create(state);
  op->getResult(0).replaceAllUsesWith(joined(formula, made->getResult(0), made->getResult(1)));
  op->erase();
}

} // namespace

void expandComplexOperands(func::FuncOp function) {
  SmallVector<Operation *> found;
  function.walk([&](Operation *op) {
    bool isSort = isa<stablehlo::SortOp>(op) &&
                  llvm::any_of(op->getOperands(), [](Value value) { return bool(partTypeOf(value)); });
    bool isJoin = isa<stablehlo::ReduceOp, stablehlo::ReduceWindowOp, stablehlo::ScatterOp>(op) &&
                  joinsComplexNumbers(op);
    if (isSort || isJoin)
      found.push_back(op);
  });
  for (Operation *op : found) {
    if (isa<stablehlo::SortOp>(op))
      replaceSort(op);
    else
      replaceJoin(op);
  }
}

} // namespace torchere::cpu
