// SymbolTable: symbolic sizes as SSA values at the function's entry.
#include "exporter/symbol_table.h"

#include "program/expression_arithmetic.h"

namespace torchere::exporter {

using program::Expression;
using program::ExpressionKind;
using program::SymInt;

SymbolTable::SymbolTable(const program::Program &program, mlir::Block &entry, mlir::Location location)
    : expressions(program.expressions), builder(location.getContext()), location(location), entry(entry) {
  for (const program::RangeConstraint &constraint : program.rangeConstraints)
    if (!constraint.expression.isConstant() &&
        expressions[constraint.expression].kind == ExpressionKind::Symbol) {
      int64_t min = constraint.range.min;
      int64_t &known = least.try_emplace(expressions[constraint.expression].symbol, min).first->second;
      known = std::max(known, min);
    }
}

SymbolTable::SymbolTable(SymbolTable &outer, mlir::Block &entry, mlir::Location location)
    : expressions(outer.expressions), outer(&outer), builder(location.getContext()), location(location),
      entry(entry) {}

/// Inserts an op after the previous ones, ahead of the rest of the block. An op that reads a size computed in
/// the block is inserted after that computation.
mlir::Value SymbolTable::append(mlir::Operation *op) {
  mlir::Operation *before = last;
  for (mlir::Value operand : op->getOperands()) {
    mlir::Operation *definition = operand.getDefiningOp();
    if (later.contains(definition) && (before == last || before->isBeforeInBlock(definition)))
      before = definition;
  }
  if (before)
    entry.getOperations().insertAfter(before->getIterator(), op);
  else
    entry.push_front(op);
  if (before == last)
    last = op;
  else
    later.insert(op);
  return op->getResult(0);
}

const SymbolTable::Definition *SymbolTable::definitionOf(const std::string &symbol) const {
  if (auto found = definitions.find(symbol); found != definitions.end())
    return &found->second;
  return outer ? outer->definitionOf(symbol) : nullptr;
}

bool SymbolTable::isLocal(SymInt size) const {
  if (size.isConstant())
    return false;
  const Expression &expression = expressions[size];
  return expression.kind == ExpressionKind::Symbol
             ? definitions.contains(expression.symbol)
             : llvm::any_of(expression.operands, [&](SymInt operand) { return isLocal(operand); });
}

std::optional<SymbolTable::Linear> SymbolTable::linear(SymInt size) const {
  if (size.isConstant())
    return Linear{"", 0, size.constant()};
  const Expression &expression = expressions[size];
  if (expression.kind == ExpressionKind::Symbol)
    return Linear{expression.symbol, 1, 0};
  if (expression.kind == ExpressionKind::Add)
    return sum(expression.operands);
  if (expression.kind == ExpressionKind::Mul)
    return product(expression.operands);
  return std::nullopt;
}

std::optional<SymbolTable::Linear> SymbolTable::sum(const std::vector<SymInt> &operands) const {
  Linear result{"", 0, 0};
  for (SymInt operand : operands) {
    auto part = linear(operand);
    if (!part || (!part->symbol.empty() && !result.symbol.empty() && part->symbol != result.symbol))
      return std::nullopt;
    if (__builtin_add_overflow(result.factor, part->factor, &result.factor) ||
        __builtin_add_overflow(result.offset, part->offset, &result.offset))
      return std::nullopt;
    if (!part->symbol.empty())
      result.symbol = part->symbol;
  }
  return result;
}

std::optional<SymbolTable::Linear> SymbolTable::product(const std::vector<SymInt> &operands) const {
  Linear result{"", 0, 1};
  for (SymInt operand : operands) {
    auto part = linear(operand);
    if (!part || (!part->symbol.empty() && !result.symbol.empty())) // symbol * symbol
      return std::nullopt;
    if (part->symbol.empty())
      std::swap(*part, result);
    // `result` is a constant from here on.
    int64_t scale = result.offset;
    if (__builtin_mul_overflow(part->factor, scale, &part->factor) ||
        __builtin_mul_overflow(part->offset, scale, &part->offset))
      return std::nullopt;
    result = *std::move(part);
  }
  return result;
}

void SymbolTable::define(SymInt size, mlir::Value value, int64_t axis) {
  if (size.isConstant())
    return;
  auto form = linear(size);
  if (!form || form->symbol.empty() || form->factor == 0)
    return;
  if (mlir::Operation *op = value.getDefiningOp(); op && op->getBlock() == &entry)
    later.insert(op);
  auto found = definitions.find(form->symbol);
  bool isExact = form->factor == 1 && form->offset == 0;
  if (found == definitions.end())
    definitions.emplace(form->symbol, Definition{value, axis, size});
  else if (isExact && expressions[found->second.size].kind != ExpressionKind::Symbol)
    found->second = {value, axis, size};
}

void SymbolTable::defineNumber(SymInt symbol, mlir::Value value) {
  define(symbol, value, int64_t{-1});
}

void SymbolTable::defineWhole(SymInt size, mlir::Value value, int64_t axis) {
  define(size, value, axis);
  if (!size.isConstant() && !values.contains(size.id()))
    values[size.id()] = sizeOf(value, axis);
}

mlir::Value SymbolTable::addArgument(uint32_t expression) {
  return entry.addArgument(scalar(elementOf(expressions.kindOf(SymInt::expression(expression)))), location);
}

Status SymbolTable::check(SymInt size) const {
  if (size.isConstant())
    return {};
  const Expression &expression = expressions[size];
  if (expression.kind == ExpressionKind::Symbol && !definitionOf(expression.symbol))
    return fail(
        ErrorCode::Unimplemented,
        "[{}] a size that depends on the data: expected every symbol to be the size of an input's dimension",
        expression.symbol);
  for (SymInt operand : expression.operands)
    TORCHERE_TRY(check(operand));
  return {};
}

mlir::Value SymbolTable::constant(int64_t value) {
  auto type = mlir::RankedTensorType::get({}, builder.getI64Type());
  return append(stablehlo::ConstantOp::create(builder, location, mlir::DenseElementsAttr::get(type, value)));
}

mlir::Value SymbolTable::constant(double value) {
  auto type = mlir::RankedTensorType::get({}, builder.getF64Type());
  return append(stablehlo::ConstantOp::create(builder, location, mlir::DenseElementsAttr::get(type, value)));
}

mlir::Value SymbolTable::constants(llvm::ArrayRef<int64_t> values) {
  auto type = mlir::RankedTensorType::get({static_cast<int64_t>(values.size())}, builder.getI64Type());
  return append(stablehlo::ConstantOp::create(builder, location, mlir::DenseElementsAttr::get(type, values)));
}

mlir::Value SymbolTable::shapeOf(llvm::ArrayRef<lowering::Dim> dims) {
  auto isLocalDim = [&](const lowering::Dim &dim) {
    return dim.isExpression() && isLocal(SymInt::expression(dim.expressionId()));
  };
  if (outer && !isIsolated() && llvm::none_of(dims, isLocalDim))
    return outer->shapeOf(dims);
  std::vector<std::pair<bool, int64_t>> key;
  for (const lowering::Dim &dim : dims)
    key.emplace_back(dim.isExpression(), dim.isExpression() ? dim.expressionId() : dim.constant());
  auto [entry, isNew] = shapes.try_emplace(key);
  if (!isNew)
    return entry->second;
  // Consecutive constants are one tensor.
  auto vector = [&](int64_t size) { return mlir::RankedTensorType::get({size}, builder.getI64Type()); };
  lowering::Values pieces;
  llvm::SmallVector<int64_t> run;
  auto endRun = [&] {
    if (run.empty())
      return;
    pieces.push_back(constants(run));
    run.clear();
  };
  for (const auto &[isExpression, number] : key) {
    if (!isExpression) {
      run.push_back(number);
      continue;
    }
    endRun();
    pieces.push_back(create<stablehlo::ReshapeOp>(vector(1), valueOf(static_cast<uint32_t>(number))));
  }
  endRun();
  if (pieces.empty())
    pieces.push_back(constants({}));
  entry->second = pieces.front();
  if (pieces.size() > 1)
    entry->second =
        create<stablehlo::ConcatenateOp>(vector(static_cast<int64_t>(dims.size())), pieces,
                                         {builder.getNamedAttr("dimension", builder.getI64IntegerAttr(0))});
  return entry->second;
}

mlir::Value SymbolTable::sizeOf(mlir::Value value, int64_t axis) {
  mlir::Type i32 = mlir::RankedTensorType::get({}, builder.getI32Type());
  mlir::Value size = create<stablehlo::GetDimensionSizeOp>(
      i32, value, {builder.getNamedAttr("dimension", builder.getI64IntegerAttr(axis))});
  return create<stablehlo::ConvertOp>(mlir::RankedTensorType::get({}, builder.getI64Type()), size);
}

mlir::Value SymbolTable::solve(const std::string &symbol) {
  const Definition &definition = definitions.at(symbol);
  mlir::Type i64 = mlir::RankedTensorType::get({}, builder.getI64Type());
  mlir::Value size = definition.axis < 0 ? definition.value : sizeOf(definition.value, definition.axis);
  Linear form = *linear(definition.size);
  if (form.offset != 0)
    size = create<stablehlo::SubtractOp>(i64, {size, constant(form.offset)});
  if (form.factor != 1)
    size = create<stablehlo::DivOp>(i64, {size, constant(form.factor)});
  return size;
}

bool SymbolTable::isNonNegative(SymInt size) const {
  if (size.isConstant())
    return size.constant() >= 0;
  const Expression &expression = expressions[size];
  if (expression.kind == ExpressionKind::Call || expression.kind == ExpressionKind::Real)
    return false; // not worth to know
  if (expression.kind != ExpressionKind::Symbol)
    return llvm::all_of(expression.operands, [&](SymInt operand) { return isNonNegative(operand); });
  const SymbolTable *function = this;
  while (function->outer)
    function = function->outer;
  auto bound = function->least.find(expression.symbol);
  if (bound != function->least.end() && bound->second >= 0)
    return true;
  const Definition *definition = definitionOf(expression.symbol);
  return definition && definition->axis >= 0 && definition->size == size;
}

/// As in StableHLO: rounds towards zero.
mlir::Value SymbolTable::divide(SymInt dividend, SymInt divisor) {
  mlir::Value lhs = compute(dividend);
  mlir::Value rhs = compute(divisor);
  return create<stablehlo::DivOp>(lhs.getType(), {lhs, rhs});
}

/// As in Python: rounds towards minus infinity.
mlir::Value SymbolTable::floorDivide(SymInt dividend, SymInt divisor) {
  if (isNonNegative(dividend) && isNonNegative(divisor))
    return divide(dividend, divisor);
  mlir::Value lhs = compute(dividend);
  mlir::Value rhs = compute(divisor);
  // (lhs - mod(lhs, rhs)) is a multiple of rhs, so the division is exact.
  mlir::Value exact = create<stablehlo::SubtractOp>(lhs.getType(), {lhs, modulo(dividend, divisor)});
  return create<stablehlo::DivOp>(lhs.getType(), {exact, rhs});
}

mlir::Value SymbolTable::ceilDivide(SymInt dividend, SymInt divisor) {
  mlir::Value quotient = floorDivide(dividend, divisor);
  mlir::Value remainder = modulo(dividend, divisor);
  mlir::Value isInexact = create<stablehlo::SignOp>(remainder.getType(), remainder);
  if (!isNonNegative(divisor)) // the remainder has its sign
    isInexact = create<stablehlo::AbsOp>(isInexact.getType(), isInexact);
  return create<stablehlo::AddOp>(quotient.getType(), {quotient, isInexact});
}

mlir::Value SymbolTable::modulo(SymInt dividend, SymInt divisor) {
  mlir::Value lhs = compute(dividend);
  mlir::Value rhs = compute(divisor);
  mlir::Value remainder = create<stablehlo::RemOp>(lhs.getType(), {lhs, rhs});
  if (isNonNegative(dividend) && isNonNegative(divisor))
    return remainder;
  mlir::Value shifted = create<stablehlo::AddOp>(lhs.getType(), {remainder, rhs});
  return create<stablehlo::RemOp>(lhs.getType(), {shifted, rhs});
}

mlir::Value SymbolTable::compute(SymInt size) {
  return numberOf(size, program::NumberKind::Int);
}

mlir::Value SymbolTable::calculate(const Expression &expression) {
  const std::vector<SymInt> &operands = expression.operands;
  auto isFloat = [&](SymInt operand) { return expressions.kindOf(operand) == program::NumberKind::Float; };
  bool isDivision = expression.kind == ExpressionKind::FloorDiv ||
                    expression.kind == ExpressionKind::CeilDiv ||
                    expression.kind == ExpressionKind::TruncDiv || expression.kind == ExpressionKind::Mod;
  if (isDivision && llvm::any_of(operands, isFloat))
    return divideFloats(expression.kind, operands);
  switch (expression.kind) {
  case ExpressionKind::Symbol:
    return solve(expression.symbol);
  case ExpressionKind::Real:
    return constant(program::realValue(expression));
  case ExpressionKind::Call:
    return calculateCall(expression);
  case ExpressionKind::Add:
    return fold<stablehlo::AddOp>(alike(operands));
  case ExpressionKind::Mul:
    return fold<stablehlo::MulOp>(alike(operands));
  case ExpressionKind::Pow:
    return fold<stablehlo::PowOp>(alike(operands));
  case ExpressionKind::FloorDiv:
    return floorDivide(operands[0], operands[1]);
  case ExpressionKind::CeilDiv:
    return ceilDivide(operands[0], operands[1]);
  case ExpressionKind::IntTrueDiv:
    return fold<stablehlo::DivOp>(floats(operands));
  case ExpressionKind::TruncDiv:
    return divide(operands[0], operands[1]);
  case ExpressionKind::Mod:
    return modulo(operands[0], operands[1]);
  case ExpressionKind::Max:
    return fold<stablehlo::MaxOp>(alike(operands));
  case ExpressionKind::Min:
    return fold<stablehlo::MinOp>(alike(operands));
  }
  return {};
}

mlir::Value SymbolTable::valueOf(uint32_t id) {
  return numberOf(SymInt::expression(id), program::NumberKind::Int);
}

} // namespace torchere::exporter
