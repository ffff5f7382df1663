// SymbolTable: a program's symbolic sizes as SSA values, each computed once: at the function's entry, or in a
// region's block if that defines symbols of its own.
#pragma once

#include "lowering/context.h"
#include "program/program.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace torchere::exporter {

class SymbolTable : public lowering::SymbolSource {
public:
  /// Values are computed at the start of `entry`.
  SymbolTable(const program::Program &program, mlir::Block &entry, mlir::Location location);
  /// For a block in a region, which can use every value before the region's op. Expressions without symbols
  /// that are defined here are computed by `outer`.
  SymbolTable(SymbolTable &outer, mlir::Block &entry, mlir::Location location);

  /// Records that dimension `axis` of a value has the size `size`, so that symbols can be solved for. The
  /// value is an argument of the block, visible from it, or computed in it; in the last case, ops that depend
  /// on the symbol come right after.
  void define(program::SymInt size, mlir::Value value, int64_t axis);
  /// Records that a 0-d i64 or f64 value is the symbol itself.
  void defineNumber(program::SymInt symbol, mlir::Value value);
  /// Like define(), and also records that the dimension is the value of the whole expression, whatever its
  /// symbols.
  void defineWhole(program::SymInt size, mlir::Value value, int64_t axis);

  /// Whether every symbol of the expression can be solved from the definitions.
  Status check(program::SymInt size) const;

  mlir::Value valueOf(uint32_t expression) override;
  /// The value of a constant or an expression as a 0-d tensor of i64, f64 or i1.
  mlir::Value numberOf(program::SymInt number, program::NumberKind kind);
  /// The same, of the expression's own kind.
  mlir::Value numberOf(program::SymInt number);
  mlir::Value shapeOf(llvm::ArrayRef<lowering::Dim> dims) override;
  /// A dimension of a value that is visible at the block's start, as a 0-d i64 tensor.
  mlir::Value sizeOf(mlir::Value value, int64_t axis);

protected:
  /// Whether the outer table's values cannot be used here, because the block is another function's.
  virtual bool isIsolated() const { return false; }
  /// The value of an expression none of whose symbols is defined here; an isolated table is asked for ints
  /// and symbols only.
  virtual mlir::Value valueFromOutside(uint32_t expression) {
    return outer->number(program::SymInt::expression(expression));
  }
  /// A new 0-d argument of the block, of the expression's kind.
  mlir::Value addArgument(uint32_t expression);

private:
  struct Definition {
    mlir::Value value;
    int64_t axis; ///< -1: the value itself
    program::SymInt size;
  };
  /// The definition of a symbol here or in an outer table; null if there is none.
  const Definition *definitionOf(const std::string &symbol) const;
  /// Whether the expression has a symbol that is defined here.
  bool isLocal(program::SymInt size) const;

  /// A size that is linear in a single symbol: symbol, symbol + a, a * symbol, a * symbol + b. None if it is
  /// not, or if `a` or `b` does not fit in 64 bits.
  struct Linear {
    std::string symbol;
    int64_t factor;
    int64_t offset;
  };
  std::optional<Linear> linear(program::SymInt size) const;
  /// The value of an expression in the type that its kind has.
  mlir::Value number(program::SymInt expression);
  mlir::Type elementOf(program::NumberKind kind);
  mlir::Value convert(mlir::Value value, mlir::Type element);
  /// The values of the operands in one type: floats if one is a float, otherwise ints.
  lowering::Values alike(const std::vector<program::SymInt> &operands);
  lowering::Values floats(const std::vector<program::SymInt> &operands);
  mlir::Value compute(program::SymInt size);
  mlir::Value solve(const std::string &symbol);
  std::optional<Linear> sum(const std::vector<program::SymInt> &operands) const;
  std::optional<Linear> product(const std::vector<program::SymInt> &operands) const;
  mlir::Value divide(program::SymInt dividend, program::SymInt divisor);
  mlir::Value floorDivide(program::SymInt dividend, program::SymInt divisor);
  mlir::Value ceilDivide(program::SymInt dividend, program::SymInt divisor);
  mlir::Value modulo(program::SymInt dividend, program::SymInt divisor);
  mlir::Value calculate(const program::Expression &expression);
  mlir::Value calculateCall(const program::Expression &call);
  mlir::Value compare(stablehlo::ComparisonDirection direction, const std::vector<program::SymInt> &operands);
  mlir::Value choose(const std::vector<program::SymInt> &operands);
  mlir::Value divideFloats(program::ExpressionKind kind, const std::vector<program::SymInt> &operands);
  template <class Op> mlir::Value rounded(program::SymInt operand);
  template <class Op> mlir::Value fold(const lowering::Values &operands) {
    mlir::Value result = operands[0];
    for (mlir::Value operand : llvm::drop_begin(operands))
      result = create<Op>(result.getType(), {result, operand});
    return result;
  }
  /// Whether the ranges of the symbols prove it.
  bool isNonNegative(program::SymInt size) const;
  mlir::Value constant(int64_t value);
  mlir::Value constant(double value);
  mlir::Type scalar(mlir::Type element) const { return mlir::RankedTensorType::get({}, element); }
  mlir::Value constants(llvm::ArrayRef<int64_t> values);
  mlir::Value append(mlir::Operation *op);
  template <class Op>
  mlir::Value create(mlir::Type type, mlir::ValueRange operands,
                     llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    return append(Op::create(builder, location, mlir::TypeRange{type}, operands, attributes));
  }

  const program::ExpressionPool &expressions;
  SymbolTable *outer = nullptr;
  mlir::OpBuilder builder; ///< without an insertion point; append() places each op
  mlir::Location location;
  mlir::Block &entry;
  mlir::Operation *last = nullptr; ///< of the ops at the entry
  llvm::SmallPtrSet<mlir::Operation *, 4>
      later; ///< ops of the block that define a size, and ops that read it
  std::map<std::string, Definition> definitions;
  std::map<std::string, int64_t> least;         ///< lower bounds of symbols, from the program's ranges
  llvm::DenseMap<uint32_t, mlir::Value> values; ///< of expressions, in the types of their kinds
  /// By (is an expression, constant or id) of each size.
  std::map<std::vector<std::pair<bool, int64_t>>, mlir::Value> shapes;
};

} // namespace torchere::exporter
