// The cell of an LSTM, found in vector programs, and its kernel beside them.
#include "cpu/kernels/isa_dispatch.h"
#include "cpu/vector/lstm_cell.h"
#include "program_runs.h"

namespace torchere::cpu {
namespace {

using enum VectorOp;

/// A program of a cell, in one of the orders in which its factors and terms may come.
struct CellProgram {
  bool isGateSecond = false, isKeptSecond = false, isHiddenFirst = false;
  VectorOp gate = Logistic, squashed = Tanh, join = Add;
  bool isOfOther = false;   ///< the hidden state is of what is kept alone
  bool isConverted = false; ///< the cell comes as F16
  bool hasThird = false;    ///< result

  /// Inputs: output, input, candidate, forget, cell.
  Result<VectorProgram> make() const {
    VectorBuilder builder;
    VectorBuilder::Value inputs[5];
    for (int i = 0; i < 5; ++i)
      inputs[i] = builder.input(i == 4 && isConverted ? DType::F16 : DType::F32);
    auto gated = [&](int open, VectorBuilder::Value value) {
      auto factor = builder.apply(gate, inputs[open]);
      return isGateSecond ? builder.apply(Multiply, value, factor) : builder.apply(Multiply, factor, value);
    };
    auto kept = gated(3, inputs[4]), added = gated(1, builder.apply(squashed, inputs[2]));
    auto cell = isKeptSecond ? builder.apply(join, added, kept) : builder.apply(join, kept, added);
    auto hidden = gated(0, builder.apply(Tanh, isOfOther ? kept : cell));
    builder.output(isHiddenFirst ? hidden : cell, DType::F32);
    builder.output(isHiddenFirst ? cell : hidden, DType::F32);
    if (hasThird)
      builder.output(hidden, DType::F32);
    return builder.finish();
  }
};

TEST(LstmCell, IsFoundInEveryOrder) {
  for (int order = 0; order < 8; ++order) {
    CellProgram program{(order & 1) != 0, (order & 2) != 0, (order & 4) != 0};
    std::optional<LstmCell> cell = LstmCell::of(*program.make());
    ASSERT_TRUE(cell) << order;
    EXPECT_EQ(cell->output, 0);
    EXPECT_EQ(cell->input, 1);
    EXPECT_EQ(cell->candidate, 2);
    EXPECT_EQ(cell->forget, 3);
    EXPECT_EQ(cell->cell, 4);
    EXPECT_EQ(cell->hidden, program.isHiddenFirst ? 0 : 1);
    EXPECT_EQ(cell->newCell, program.isHiddenFirst ? 1 : 0);
  }
}

TEST(LstmCell, IsNothingElse) {
  auto isFound = [](const CellProgram &program) { return LstmCell::of(*program.make()).has_value(); };
  EXPECT_TRUE(isFound({}));
  EXPECT_FALSE(isFound({.gate = Tanh}));
  EXPECT_FALSE(isFound({.squashed = Logistic}));
  EXPECT_FALSE(isFound({.join = Multiply}));
  EXPECT_FALSE(isFound({.join = Subtract}));
  EXPECT_FALSE(isFound({.isOfOther = true}));
  EXPECT_FALSE(isFound({.isConverted = true}));
  EXPECT_FALSE(isFound({.hasThird = true}));
  EXPECT_FALSE(LstmCell::of(VectorProgram()));
}

class LstmCells : public ProgramRuns {};

/// The program's and the kernel's values differ by whether a product and a sum are rounded once.
TEST_P(LstmCells, AreWhatTheProgramComputes) {
  for (auto [rows, columns] : {std::pair{1, 64}, {1, 1}, {3, 37}, {2, 16}, {5, 100}}) {
    const int64_t stride = 5 * columns + 3, count = rows * columns;
    std::vector<float> x = randomFloats(rows * stride, 1, 4), cell(count), hidden(count), made(count),
                       shown(count, -7);
    x[0] = kInf, x[size_t(columns)] = -kInf, x[size_t(rows * stride - 4)] = NAN; // the last of the cells
    CellProgram program;
    auto at = [&](int i) { return x.data() + i * columns; };
    const VectorStrides apart = {stride, 1}, dense = {columns, 1};
    runProgram(context, *program.make(), {rows, columns},
               {{at(0), apart}, {at(1), apart}, {at(2), apart}, {at(3), apart}, {at(4), apart}},
               {{cell.data(), dense}, {hidden.data(), dense}});
    for (int64_t row = 0; row < rows; ++row) // to be written where it lies
      std::copy_n(at(4) + row * stride, columns, made.begin() + row * columns);
    LstmCellsJob job{
        .input = at(1), .forget = at(3), .candidate = at(2), .output = at(0), .gateStride = stride};
    job.cell = job.newCell = made.data();
    job.cellStride = job.newCellStride = job.hiddenStride = columns;
    job.hidden = shown.data();
    job.rows = rows;
    job.columns = columns;
    kernelsOf(context.isa).lstmCells(job);
    for (int64_t i = 0; i < count; ++i) {
      if (std::isnan(cell[i])) {
        EXPECT_TRUE(std::isnan(made[i]) && std::isnan(shown[i])) << i;
        continue;
      }
      EXPECT_NEAR(made[i], cell[i], 5e-7f) << rows << " x " << columns << " at " << i;
      EXPECT_NEAR(shown[i], hidden[i], 3e-7f) << rows << " x " << columns << " at " << i;
    }
  }
}

TORCHERE_EVERY_ISA(LstmCells);

} // namespace
} // namespace torchere::cpu
