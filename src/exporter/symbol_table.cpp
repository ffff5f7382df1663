// SymbolTable: symbolic sizes as SSA values at the function's entry.
#include "exporter/symbol_table.h"

namespace torchere::exporter {

using program::Expression;
using program::ExpressionKind;
using program::SymInt;

SymbolTable::SymbolTable(const program::ExpressionPool &expressions, mlir::Block &entry,
                         mlir::Location location)
    : expressions(expressions), builder(entry.getParent()->getContext()), location(location), entry(entry) {}

/// Puts an op after those made before it, ahead of the function's body.
mlir::Value SymbolTable::append(mlir::Operation *op) {
  if (last)
    entry.getOperations().insertAfter(last->getIterator(), op);
  else
    entry.push_front(op);
  last = op;
  return op->getResult(0);
}

std::optional<SymbolTable::Linear> SymbolTable::linear(SymInt size) const {
  if (size.isConstant())
    return Linear{"", 0, size.constant()};
  const Expression &expression = expressions[size];
  if (expression.kind == ExpressionKind::Symbol)
    return Linear{expression.symbol, 1, 0};
  bool isSum = expression.kind == ExpressionKind::Add;
  if (!isSum && expression.kind != ExpressionKind::Mul)
    return std::nullopt;
  Linear result{"", isSum ? 0 : 1, isSum ? 0 : 1}; // a product is kept in `offset` until a symbol appears
  for (SymInt operand : expression.operands) {
    auto part = linear(operand);
    if (!part || (!part->symbol.empty() && !result.symbol.empty() && part->symbol != result.symbol))
      return std::nullopt;
    if (isSum) {
      result.factor += part->factor;
      result.offset += part->offset;
    } else if (part->symbol.empty()) {
      result.factor *= part->offset;
      result.offset *= part->offset;
    } else {
      if (!result.symbol.empty())
        return std::nullopt; // symbol * symbol
      int64_t scale = result.offset;
      result = {part->symbol, part->factor * scale, part->offset * scale};
      continue;
    }
    if (!part->symbol.empty())
      result.symbol = part->symbol;
  }
  if (result.symbol.empty())
    result.factor = 0;
  return result;
}

void SymbolTable::define(SymInt size, mlir::Value argument, int64_t axis) {
  if (size.isConstant())
    return;
  auto form = linear(size);
  if (!form || form->symbol.empty() || form->factor == 0)
    return;
  auto found = definitions.find(form->symbol);
  bool isExact = form->factor == 1 && form->offset == 0;
  if (found == definitions.end())
    definitions.emplace(form->symbol, Definition{argument, axis, size});
  else if (isExact && expressions[found->second.size].kind != ExpressionKind::Symbol)
    found->second = {argument, axis, size};
}

void SymbolTable::define(SymInt symbol, mlir::Value argument) {
  define(symbol, argument, -1);
}

Status SymbolTable::check(SymInt size) const {
  if (size.isConstant())
    return {};
  const Expression &expression = expressions[size];
  if (expression.kind == ExpressionKind::Symbol && !definitions.contains(expression.symbol))
    return fail(
        ErrorCode::Unimplemented,
        "[{}] a size that depends on the data: expected every symbol to be the size of an input's dimension",
        expression.symbol);
  for (SymInt operand : expression.operands)
    TORCHERE_TRY(check(operand));
  return {};
}

template <class Op>
mlir::Value SymbolTable::create(mlir::Type type, mlir::ValueRange operands,
                                llvm::ArrayRef<mlir::NamedAttribute> attributes) {
  return append(Op::create(builder, location, mlir::TypeRange{type}, operands, attributes));
}

mlir::Value SymbolTable::constant(int64_t value) {
  auto type = mlir::RankedTensorType::get({}, builder.getI64Type());
  return append(stablehlo::ConstantOp::create(builder, location, mlir::DenseElementsAttr::get(type, value)));
}

mlir::Value SymbolTable::constants(llvm::ArrayRef<int64_t> values) {
  auto type = mlir::RankedTensorType::get({static_cast<int64_t>(values.size())}, builder.getI64Type());
  return append(stablehlo::ConstantOp::create(builder, location, mlir::DenseElementsAttr::get(type, values)));
}

mlir::Value SymbolTable::shapeOf(llvm::ArrayRef<lowering::Dim> dims) {
  std::vector<std::pair<bool, int64_t>> key;
  for (const lowering::Dim &dim : dims)
    key.emplace_back(dim.isExpression(), dim.isExpression() ? dim.expressionId() : dim.constant());
  auto [entry, isNew] = shapes.try_emplace(key);
  if (!isNew)
    return entry->second;
  // Runs of constants are one constant.
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

mlir::Value SymbolTable::solve(const std::string &symbol) {
  const Definition &definition = definitions.at(symbol);
  mlir::Type i64 = mlir::RankedTensorType::get({}, builder.getI64Type());
  mlir::Value size = definition.argument;
  if (definition.axis >= 0) {
    mlir::Type i32 = mlir::RankedTensorType::get({}, builder.getI32Type());
    size = create<stablehlo::GetDimensionSizeOp>(
        i32, size, {builder.getNamedAttr("dimension", builder.getI64IntegerAttr(definition.axis))});
    size = create<stablehlo::ConvertOp>(i64, size);
  }
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
  return expression.kind == ExpressionKind::Symbol ||
         llvm::all_of(expression.operands, [&](SymInt operand) { return isNonNegative(operand); });
}

/// StableHLO divides towards zero; Python towards minus infinity.
mlir::Value SymbolTable::floorDivide(SymInt dividend, SymInt divisor) {
  mlir::Value lhs = compute(dividend);
  mlir::Value rhs = compute(divisor);
  mlir::Value quotient = create<stablehlo::DivOp>(lhs.getType(), {lhs, rhs});
  if (isNonNegative(dividend) && isNonNegative(divisor))
    return quotient;
  // (lhs - mod(lhs, rhs)) is a multiple of rhs, so that its division is exact.
  mlir::Value exact = create<stablehlo::SubtractOp>(lhs.getType(), {lhs, modulo(dividend, divisor)});
  return create<stablehlo::DivOp>(lhs.getType(), {exact, rhs});
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

mlir::Value SymbolTable::binary(ExpressionKind kind, mlir::Value lhs, mlir::Value rhs) {
  mlir::Type type = lhs.getType();
  switch (kind) {
  case ExpressionKind::Add:
    return create<stablehlo::AddOp>(type, {lhs, rhs});
  case ExpressionKind::Mul:
    return create<stablehlo::MulOp>(type, {lhs, rhs});
  case ExpressionKind::Pow:
    return create<stablehlo::PowOp>(type, {lhs, rhs});
  case ExpressionKind::Max:
    return create<stablehlo::MaxOp>(type, {lhs, rhs});
  default:
    return create<stablehlo::MinOp>(type, {lhs, rhs});
  }
}

mlir::Value SymbolTable::compute(SymInt size) {
  return size.isConstant() ? constant(size.constant()) : valueOf(size.id());
}

mlir::Value SymbolTable::valueOf(uint32_t id) {
  if (auto found = values.find(id); found != values.end())
    return found->second;
  const Expression &expression = expressions[SymInt::expression(id)];
  mlir::Value result;
  switch (expression.kind) {
  case ExpressionKind::Symbol:
    result = solve(expression.symbol);
    break;
  case ExpressionKind::FloorDiv:
  case ExpressionKind::IntTrueDiv: // exact wherever it is a size
    result = floorDivide(expression.operands[0], expression.operands[1]);
    break;
  case ExpressionKind::CeilDiv: {
    mlir::Value quotient = floorDivide(expression.operands[0], expression.operands[1]);
    mlir::Value remainder = modulo(expression.operands[0], expression.operands[1]);
    mlir::Value sign = create<stablehlo::SignOp>(remainder.getType(), remainder);
    result = create<stablehlo::AddOp>(quotient.getType(), {quotient, sign});
    break;
  }
  case ExpressionKind::Mod:
    result = modulo(expression.operands[0], expression.operands[1]);
    break;
  default:
    result = compute(expression.operands[0]);
    for (size_t i = 1; i < expression.operands.size(); ++i)
      result = binary(expression.kind, result, compute(expression.operands[i]));
  }
  values[id] = result;
  return result;
}

} // namespace torchere::exporter
