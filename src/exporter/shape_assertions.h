// ShapeAssertions: what a program assumes of its inputs' sizes, as calls of @shape_assertion, which shape
// refinement checks: ranges, multiples, and sizes that must agree.
#pragma once

#include "exporter/symbol_table.h"
#include "program/entry_point.h"

#include <limits>
#include <set>
#include <string>

namespace torchere::exporter {

class ShapeAssertions {
public:
  /// `printed` has the program's expressions with the user's names of dimensions.
  ShapeAssertions(const program::Program &program, const program::ExpressionPool &printed,
                  SymbolTable &symbols, mlir::OpBuilder &builder, mlir::Location location)
      : program(program), printed(printed), symbols(symbols), builder(builder), location(location) {}

  /// Each dynamic dimension of the argument has the value of its expression, so that it is a multiple where
  /// that is one, and equal to others of the same expression.
  void addInput(const program::EntryInput &input, mlir::Value argument);
  /// The ranges of the sizes of the inputs that were added. Those of other numbers depend on values, which
  /// refinement does not know.
  void addRanges();

private:
  void addSymbols(program::SymInt size);
  bool isOfSizes(program::SymInt expression) const;
  void addRange(const program::RangeConstraint &constraint);
  mlir::Value constant(int64_t value);
  mlir::Value compare(stablehlo::ComparisonDirection direction, mlir::Value lhs, mlir::Value rhs);
  void assertThat(mlir::Value condition, mlir::ValueRange inputs, const std::string &message);

  const program::Program &program;
  const program::ExpressionPool &printed;
  SymbolTable &symbols;
  mlir::OpBuilder &builder;
  mlir::Location location;
  std::set<std::string> known; ///< symbols that are the size of a dimension
};

} // namespace torchere::exporter
