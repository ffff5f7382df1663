// CalleeTable: the positions that a row gives to the arguments of a program's op.
#include "exporter/callee.h"

#include <gtest/gtest.h>

namespace torchere::exporter {
namespace {

using Positions = std::vector<size_t>;

TEST(CalleeTable, GivesTheRowsPositions) {
  program::OpInterner ops;
  auto positions = [&](std::string_view schema) {
    return CalleeTable().find(**ops.intern("aten.add.Tensor", schema)).positions;
  };
  EXPECT_EQ(positions("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"),
            Positions({0, 1, 2}));
  EXPECT_EQ(
      positions("aten::add.Tensor(Tensor other, *, bool? fresh=None, Scalar alpha=1, Tensor self) -> Tensor"),
      Positions({1, 3, 2, 0})); // 3: the row has three arguments
}

TEST(CalleeTable, TakesPositionsForTheNamesOfCallablesWithoutASchema) {
  program::OpInterner ops;
  CalleeTable callees;
  const Callee &callee = callees.find(*ops.intern("aten.add.Tensor", {"0", "1", "alpha"}));
  EXPECT_EQ(callee.row, lowering::OpTable::instance().find("aten.add.Tensor"));
  EXPECT_EQ(callee.positions, Positions({0, 1, 2}));
  EXPECT_EQ(callees.find(*ops.intern("aten.add.Tensor", {"other", "1", "2", "3"})).positions,
            Positions({1, 1, 2, 3}));
}

TEST(CalleeTable, ResolvesAnOpOnce) {
  program::OpInterner ops;
  CalleeTable callees;
  const program::Op &op = **ops.intern("mylib.scale.default", "mylib::scale(Tensor x) -> Tensor");
  const Callee &callee = callees.find(op);
  EXPECT_EQ(callee.row, nullptr);
  EXPECT_EQ(&callees.find(op), &callee);
}

} // namespace
} // namespace torchere::exporter
