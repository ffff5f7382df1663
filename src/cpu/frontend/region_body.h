// The regions of reductions, sorts and scatters: one op that is known by name, or a vector program.
#pragma once

#include "cpu/frontend/planner.h"
#include "cpu/vector/program.h"

namespace torchere::cpu {

/// What a region of one block and one op does with its two arguments, by the op's name; empty for others.
/// `replaces` is a region that returns its second argument.
llvm::StringRef joinOf(mlir::Region &region);

/// A region on scalars as a vector program. Its inputs are the block's arguments, then the captures; its
/// outputs what the region returns.
struct RegionProgram {
  VectorProgram program;
  std::vector<mlir::Value> captures;
};
/// None if the region has other ops than elementwise ones and constants, or other types than vectors have.
std::optional<RegionProgram> programOf(mlir::Region &region);
/// The same for one value in a region. None if it needs captures.
std::optional<VectorProgram> programOf(mlir::Region &region, mlir::Value value);

} // namespace torchere::cpu
