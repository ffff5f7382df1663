// JoinedPlan: a vector program whose results are reduced as soon as a tile of them is computed.
#pragma once

#include "cpu/kernels/reduction.h"
#include "cpu/vector/vector_plan.h"

#include <span>

namespace torchere::cpu {

/// How an output is reduced. Strides are in elements: 0 along the dimensions that are reduced, which are the
/// same for all outputs that are.
struct JoinedOutput {
  DType type = DType::F32; ///< in memory
  Reduction reduction = Reduction::Sum;
  VectorStrides strides = {};
};

/// Tiles are joined in chunks, then these, so that the rounding of sums stays small. Few results are computed
/// in segments. None of that depends on the number of threads.
class JoinedPlan {
public:
  JoinedPlan() = default;
  /// The program has one phase, computes nothing once a row, and asks for no indices. Its last outputs are
  /// those that are reduced; the walk has the others. There is at least one element.
  JoinedPlan(const VectorProgram &program, Isa isa, VectorWalk walk, std::span<const JoinedOutput> outputs);

  struct Operands {
    const void *const *inputs;
    void *const *stored;         ///< outputs that are not reduced
    const void *const *initials; ///< an element each, of the outputs that are
    void *const *results;
  };
  void run(const Context &context, const Operands &operands) const;

private:
  class Worker;
  friend class JoinedPlanner;

  struct Output {
    DType type = DType::F32;
    Reduction reduction = Reduction::Sum;
    DType sumType = DType::F32; ///< that tiles are computed in
    int64_t size = 4, sumSize = 4;
    uint64_t neutral = 0;
    VectorStrides strides = {}; ///< in bytes
  };
  /// Places of tiles along some of the dimensions.
  struct Loops {
    int count = 0;
    std::array<int, kVectorRank> dimension = {};
    std::array<int64_t, kVectorRank> steps = {}, width = {};

    void add(int dim, int64_t size, int64_t tile);
    int64_t total() const;
  };

  VectorPlan tiles;
  std::vector<Output> outputs;
  bool isAcross = false;   ///< columns are kept, and rows reduced
  bool keepsRows = false;  ///< of results along columns
  Loops units, steps;      ///< of results, and of what is joined to them
  int64_t unitResults = 1; ///< the most that a unit has
  int64_t segments = 1;    ///< parts of the steps
  int64_t chunk = 1;       ///< steps
  int64_t parts = 1;
  int64_t sumBytes = 0; ///< of a unit's sums
};

} // namespace torchere::cpu
