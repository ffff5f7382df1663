// LaneProgram: a vector program that is run again and again on a few elements, each time others.
#pragma once

#include "cpu/vector/op_rules.h"
#include "cpu/vector/program.h"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace torchere::cpu {

/// For the regions of reductions, sorts and scatters: a program without rows, on elements that lie one after
/// another. One thread at a time.
class LaneProgram {
public:
  /// `lanes`: the most elements of a run. The program must outlive this.
  LaneProgram(const VectorProgram &program, Isa isa, int64_t lanes);

  /// No output is an input.
  void run(const void *const *inputs, void *const *outputs, int64_t count);

private:
  void runOne(const VectorInstruction &instruction, const void *const *inputs, void *const *outputs,
              int64_t count);
  std::byte *own(int slot) { return memory_ + slot * slotBytes_; }

  const VectorProgram &program_;
  const Primitives &primitives_;
  int64_t slotBytes_;
  std::vector<std::byte> storage_;
  std::byte *memory_;
  std::vector<const std::byte *> slots_;
};

} // namespace torchere::cpu
