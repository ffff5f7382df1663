// Attributes and types that do not hold together are refused while an artifact is read, and nobody is told.
#include "stablehlo/dialect.h"
#include "stablehlo/module_implementation.h"
#include "vhlo/attribute_table.h"

#include <gtest/gtest.h>

namespace torchere::vhlo {

TEST(Refusal, IsFailureWithoutAMessage) {
  auto shared = stablehlo::makeContext();
  mlir::MLIRContext *context = shared.get();
  int told = 0;
  mlir::ScopedDiagnosticHandler handler(context, [&](mlir::Diagnostic &) {
    ++told;
    return mlir::success();
  });
  mlir::Type number = mlir::Float32Type::get(context);
  llvm::SmallVector<mlir::Type> scalars = {number};
  EXPECT_FALSE(
      stablehlo::FutureType::getChecked(Refusal(context), context, llvm::ArrayRef<mlir::Type>(scalars)));
  EXPECT_FALSE(stablehlo::ReplicaGroupMeshAxesAttr::getChecked(Refusal(context), context,
                                                               mlir::Attribute(mlir::UnitAttr::get(context)),
                                                               mlir::ArrayAttr::get(context, {})));
  EXPECT_FALSE(mlir::ComplexType::getChecked(Refusal(context), mlir::IndexType::get(context)));
  EXPECT_TRUE(mlir::ComplexType::getChecked(Refusal(context), number));
  EXPECT_EQ(told, 0);
}

} // namespace torchere::vhlo
