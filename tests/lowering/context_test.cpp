// Context: what it tells of values.
#include "lowering/context.h"

#include "stablehlo/module_implementation.h"

#include <gtest/gtest.h>

namespace torchere::lowering {
namespace {

mlir::Value valueOf(mlir::Block &block, mlir::Type element) {
  return block.addArgument(mlir::RankedTensorType::get({2}, element),
                           mlir::UnknownLoc::get(element.getContext()));
}

TEST(ContextTest, KnowsTheDTypeOfEveryFloat) {
  std::shared_ptr<mlir::MLIRContext> context = stablehlo::makeContext();
  mlir::Block block;
  EXPECT_EQ(Context::dtype(valueOf(block, mlir::BFloat16Type::get(context.get()))), DType::BF16);
  EXPECT_EQ(Context::dtype(valueOf(block, mlir::Float8E5M2Type::get(context.get()))), DType::F8E5M2);
}

/// Float8E4M3 has more exponents than float8_e4m3fn, and torch does not have it.
TEST(ContextDeathTest, AFloatThatTorchDoesNotHaveIsNotTakenForAnother) {
  std::shared_ptr<mlir::MLIRContext> context = stablehlo::makeContext();
  mlir::Block block;
  mlir::Value value = valueOf(block, mlir::Float8E4M3Type::get(context.get()));
  EXPECT_DEATH(Context::dtype(value), "an element type that no dtype has: f8E4M3");
}

} // namespace
} // namespace torchere::lowering
