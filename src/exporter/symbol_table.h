// SymbolTable: symbolic sizes of a program as SSA values, computed once each: at the function's entry, or in
// the block of a region where it defines symbols of its own.
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
  /// Of a block in a region, from where everything can be seen that is before the region's op: what has no
  /// symbol that is defined here is computed by `outer`.
  SymbolTable(SymbolTable &outer, mlir::Block &entry, mlir::Location location);

  /// Says that dimension `axis` of a value has the size `size`: what symbols are solved from. The value is an
  /// argument of the block, can be seen from it, or is computed in it: what depends on the symbol comes
  /// right after.
  void define(program::SymInt size, mlir::Value value, int64_t axis);
  /// Says that a 0-d i64 value is the symbol itself.
  void define(program::SymInt symbol, mlir::Value value);
  /// As define(), and says that the expression itself is that dimension, whatever its symbols are.
  void defineWhole(program::SymInt size, mlir::Value value, int64_t axis);

  /// Whether every symbol of the expression can be solved from the definitions.
  Status check(program::SymInt size) const;

  mlir::Value valueOf(uint32_t expression) override;
  mlir::Value shapeOf(llvm::ArrayRef<lowering::Dim> dims) override;

protected:
  /// Whether nothing of the outer table can be used here: the block is a function's, called from there.
  virtual bool isIsolated() const { return false; }
  /// The value of an expression of which no symbol is defined here.
  virtual mlir::Value valueFromOutside(uint32_t expression) { return outer->valueOf(expression); }
  /// A new 0-d i64 argument of the block.
  mlir::Value addArgument();

private:
  struct Definition {
    mlir::Value value;
    int64_t axis; ///< -1: the value itself
    program::SymInt size;
  };
  /// The definition of a symbol here or in an outer table; null where there is none.
  const Definition *definitionOf(const std::string &symbol) const;
  /// Whether the expression has a symbol that is defined here.
  bool isLocal(program::SymInt size) const;

  /// The only symbol of `size` when it is linear in one: symbol, symbol + a, a * symbol, a * symbol + b. None
  /// where `a` or `b` does not fit in 64 bits.
  struct Linear {
    std::string symbol;
    int64_t factor;
    int64_t offset;
  };
  std::optional<Linear> linear(program::SymInt size) const;
  mlir::Value compute(program::SymInt size);
  mlir::Value sizeOf(mlir::Value value, int64_t axis);
  mlir::Value solve(const std::string &symbol);
  std::optional<Linear> sum(const std::vector<program::SymInt> &operands) const;
  std::optional<Linear> product(const std::vector<program::SymInt> &operands) const;
  mlir::Value divide(program::SymInt dividend, program::SymInt divisor);
  mlir::Value floorDivide(program::SymInt dividend, program::SymInt divisor);
  mlir::Value ceilDivide(program::SymInt dividend, program::SymInt divisor);
  mlir::Value modulo(program::SymInt dividend, program::SymInt divisor);
  template <class Op> mlir::Value fold(const std::vector<program::SymInt> &operands);
  mlir::Value calculate(const program::Expression &expression);
  /// Whether it is, as far as the ranges of the symbols say.
  bool isNonNegative(program::SymInt size) const;
  mlir::Value constant(int64_t value);
  mlir::Value constants(llvm::ArrayRef<int64_t> values);
  mlir::Value append(mlir::Operation *op);
  template <class Op>
  mlir::Value create(mlir::Type type, mlir::ValueRange operands,
                     llvm::ArrayRef<mlir::NamedAttribute> attributes = {});

  const program::ExpressionPool &expressions;
  SymbolTable *outer = nullptr;
  mlir::OpBuilder builder; ///< without a place; append() gives each op its own
  mlir::Location location;
  mlir::Block &entry;
  mlir::Operation *last = nullptr;               ///< of the ops at the entry
  llvm::SmallPtrSet<mlir::Operation *, 4> later; ///< those of the block that define a size, and what reads it
  std::map<std::string, Definition> definitions;
  std::map<std::string, int64_t> least; ///< of symbols, from the program's ranges
  llvm::DenseMap<uint32_t, mlir::Value> values;
  /// By (is an expression, constant or id) of each size.
  std::map<std::vector<std::pair<bool, int64_t>>, mlir::Value> shapes;
};

} // namespace torchere::exporter
