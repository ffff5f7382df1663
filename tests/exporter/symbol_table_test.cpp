// SymbolTable: what sizes symbols are solved from.
#include "exporter/symbol_table.h"

#include "stablehlo/module_implementation.h"

#include <gtest/gtest.h>

namespace torchere::exporter {
namespace {

using program::ExpressionKind;
using program::SymInt;

class SymbolTableTest : public testing::Test {
protected:
  SymbolTableTest() { symbol = program.expressions.symbol("s0"); }

  /// What is wrong with the symbol when it can be solved from `size` alone; "" for nothing.
  std::string errorFrom(SymInt size) {
    std::shared_ptr<mlir::MLIRContext> context = stablehlo::makeContext();
    mlir::Location location = mlir::UnknownLoc::get(context.get());
    mlir::Block block;
    mlir::Value argument = block.addArgument(
        mlir::RankedTensorType::get({mlir::ShapedType::kDynamic}, mlir::Float32Type::get(context.get())),
        location);
    SymbolTable table(program, block, location);
    table.define(size, argument, 0);
    Status status = table.check(symbol);
    return status ? "" : status.error().message;
  }
  SymInt make(ExpressionKind kind, std::vector<SymInt> operands) {
    return program.expressions.make(kind, std::move(operands));
  }

  program::Program program;
  SymInt symbol;
};

constexpr const char *unsolved =
    "[s0] a size that depends on the data: expected every symbol to be the size of an input's dimension";

TEST_F(SymbolTableTest, SolvesLinearSizes) {
  EXPECT_EQ(errorFrom(symbol), "");
  EXPECT_EQ(errorFrom(make(ExpressionKind::Add, {make(ExpressionKind::Mul, {3, symbol}), 2})), "");
  EXPECT_EQ(errorFrom(make(ExpressionKind::Mul, {symbol, symbol})), unsolved);
}

/// 3 * 2^62 is -2^62 in 64 bits, by which a size would be divided.
TEST_F(SymbolTableTest, AFactorOfMoreThan64BitsIsNoLinearSize) {
  SymInt size = make(ExpressionKind::Mul, {int64_t{1} << 62, make(ExpressionKind::Mul, {3, symbol})});
  EXPECT_EQ(errorFrom(size), unsolved);
}

} // namespace
} // namespace torchere::exporter
