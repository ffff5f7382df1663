// What an LSTM does with the products of its gates.
#include "cpu/kernels/isa/math.h"
#include "cpu/kernels/isa/parts.h"
#include "cpu/kernels/isa/simd.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

struct CellAndHidden {
  F cell, hidden;
};

TORCHERE_INLINE CellAndHidden stepOf(F input, F forget, F candidate, F output, F cell) {
  F made = logistic(forget) * cell + logistic(input) * hyperbolicTangent(candidate);
  return {made, logistic(output) * hyperbolicTangent(made)};
}

void lstmCells(const LstmCellsJob &job) {
  for (int64_t row = 0; row < job.rows; ++row) {
    const int64_t gate = row * job.gateStride, columns = job.columns;
    const float *input = job.input + gate, *forget = job.forget + gate, *candidate = job.candidate + gate,
                *output = job.output + gate, *cell = job.cell + row * job.cellStride;
    float *newCell = job.newCell + row * job.newCellStride, *hidden = job.hidden + row * job.hiddenStride;
    int64_t i = 0;
    for (; i + kLanes <= columns; i += kLanes) {
      CellAndHidden made =
          stepOf(load(input + i), load(forget + i), load(candidate + i), load(output + i), load(cell + i));
      store(newCell + i, made.cell);
      store(hidden + i, made.hidden);
    }
    if (i < columns) {
      const int64_t rest = columns - i;
      CellAndHidden made =
          stepOf(loadPart(input + i, rest), loadPart(forget + i, rest), loadPart(candidate + i, rest),
                 loadPart(output + i, rest), loadPart(cell + i, rest));
      storePart(newCell + i, made.cell, rest);
      storePart(hidden + i, made.hidden, rest);
    }
  }
}

} // namespace

void addLstmCells(IsaKernels &table) {
  table.lstmCells = lstmCells;
}

} // namespace torchere::cpu::TORCHERE_ISA
