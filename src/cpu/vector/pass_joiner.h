// PassJoiner: two ops of a planned program in one pass over a tile.
#pragma once

#include "cpu/vector/vector_plan.h"

#include <optional>
#include <span>

namespace torchere::cpu {

/// Replaces operations by those of Primitives::pairs and choices, where the second alone reads what the first
/// computes, and sums that whoever runs the tiles takes by those of what they are computed from. Operations
/// still stand where their instructions do.
class PassJoiner {
public:
  /// `reductions`: of the program's last outputs.
  PassJoiner(VectorPlan &plan, const VectorProgram &program, const Primitives &primitives,
             std::span<const TileReduction> reductions)
      : plan(plan), program(program), primitives(primitives), reductions(reductions),
        isDropped(program.instructions.size()), squares(program.instructions.size()) {}
  void run();

private:
  void joinPair(uint32_t at, uint32_t end);
  void joinChoice(uint32_t at, uint32_t end);
  void joinSum(uint32_t at, uint32_t end);
  void drop();
  std::optional<uint32_t> onlyReader(uint32_t at, uint32_t end) const;
  bool isKeptUntil(uint32_t at, uint32_t until) const;
  bool isOfFloats(uint32_t at) const;

  VectorPlan &plan;
  const VectorProgram &program;
  const Primitives &primitives;
  std::span<const TileReduction> reductions;
  std::vector<bool> isDropped;
  std::vector<bool> squares; ///< of a difference
};

} // namespace torchere::cpu
