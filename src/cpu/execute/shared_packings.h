// Packed copies of arguments that several steps share: those of one program's plans for several sizes, or of
// several programs with the same weights.
#pragma once

#include "cpu/plan/plan.h"

#include <functional>
#include <string>

namespace torchere::cpu {

/// A packed copy, which nobody writes.
using Packed = std::shared_ptr<const std::byte[]>;

/// The copy of the contents with this id in this layout, made by `pack` unless a step has it already.
/// `layout` says all that the copy depends on beside the contents; if it is empty, the copy is not shared. A
/// copy lives as long as somebody has it.
Result<Packed> sharedPacking(uint64_t id, const std::string &layout,
                             const std::function<Result<Packed>()> &pack);
/// That copy if there is one, else null.
Packed findPacking(uint64_t id, const std::string &layout);
/// Makes a copy known that was packed before. One that is known already stays.
void addPacking(uint64_t id, const std::string &layout, const Packed &copy);

} // namespace torchere::cpu
