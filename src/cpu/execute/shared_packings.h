// Packed copies of arguments that several steps share: those of one program's plans for several sizes, or of
// several programs with the same weights.
#pragma once

#include "cpu/plan/plan.h"

#include <functional>
#include <string>

namespace torchere::cpu {

/// The copy of the contents with this id in this layout, made by `pack` unless a step has it already.
/// `layout` says all that the copy depends on beside the contents; if it is empty, the copy is not shared. A
/// copy lives as long as somebody has it.
Result<std::shared_ptr<const Memory>> sharedPacking(uint64_t id, const std::string &layout,
                                                    const std::function<Result<Memory>()> &pack);

} // namespace torchere::cpu
