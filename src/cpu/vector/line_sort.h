// Sorts of lines of several tensors together, by keys or by a comparator that is given as a vector program.
#pragma once

#include "cpu/kernels/key_order.h"
#include "cpu/kernels/reduction.h"
#include "cpu/vector/program.h"

#include <optional>
#include <vector>

namespace torchere::cpu {

/// Strides are in elements. The tensors have the same sizes.
struct SortOperand {
  int elementSize = 4; ///< 1, 2, 4, 8 or 16
  const void *input = nullptr;
  void *output = nullptr;
  int64_t inputStrides[kMaxRank] = {};
  int64_t outputStrides[kMaxRank] = {};
};

/// A key that is an operand, or computed from the operands.
struct SortColumn {
  SortKey key;
  size_t operand = 0;
  /// Its inputs are those of the comparator, where both elements of a pair are the same one; its output the
  /// key.
  std::optional<VectorProgram> program;
};

struct SortPlan {
  std::vector<SortColumn> columns; ///< the one that counts most first; none if only the comparator tells
  /// Its inputs are the elements of the pair for each operand in turn; its output whether the first comes
  /// first. For lines that have no order by keys. Without one all have.
  std::optional<VectorProgram> comparator;
};

struct LineSortArgs {
  const SortPlan *plan = nullptr;
  std::vector<SortOperand> operands;
  int rank = 0;
  int64_t dims[kMaxRank] = {};
  int dimension = 0; ///< along which lines lie
  /// Elements of each line that are written, from the first on; the others are nobody's.
  int64_t leading = 0;
};
/// Stable. By a comparator, which may contradict itself, lines are merged by halves.
void sortLines(const Context &context, const LineSortArgs &args);

} // namespace torchere::cpu
