// The table of evaluations against the dialect: no op is forgotten, and none is there that the dialect lacks.
#include "interpreter/evaluation_table.h"

#include "stablehlo/dialect.h"
#include "stablehlo/module_implementation.h"

#include <gtest/gtest.h>

#include <set>

namespace torchere::interpreter {
namespace {

// It ends a region, which the evaluator does.
const std::set<std::string> leftOut = {"stablehlo.return"};

TEST(EvaluationTable, HasEveryOpOfTheDialect) {
  std::shared_ptr<mlir::MLIRContext> context = stablehlo::makeContext();
  EvaluationTable table;
  for (mlir::RegisteredOperationName op : context->getRegisteredOperationsByDialect("stablehlo")) {
    std::string name = op.getStringRef().str();
    EXPECT_EQ(table.find(name).evaluation == nullptr, leftOut.contains(name)) << name;
  }
}

} // namespace
} // namespace torchere::interpreter
