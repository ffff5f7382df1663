// Programs as bytes: what a stored executable holds beside the code. A program of one process is its plan;
// one of several has a plan for each, one of open sizes the plans of those that it has been called with.
#pragma once

#include "cpu/plugin/open_program.h"

namespace torchere::cpu {

/// Empty if the plan's steps hold a part of the module.
std::string storePlan(const CompiledModule &compiled, Isa isa);
/// By process, what storePlan() gave, none of them empty.
std::string storeProcesses(interpreter::ProcessCounts processes, std::span<const std::string> plans, Isa isa);
/// Plans in front are read first where there are more than a program keeps.
std::string storeSizes(const interpreter::EntryPoint &entry, interpreter::ProcessCounts processes,
                       const std::vector<SizedPlan> &plans, Isa isa);

/// Null if another build has stored it, or for other instructions or numbers of processes. InvalidArgument
/// unless it is a program that touches nothing but its own memory. `source` is what it was compiled from, and
/// for what; a program of open sizes compiles for those that are not stored.
Result<std::unique_ptr<const pjrt_server::Program>> loadProgram(std::string_view stored,
                                                                const ProgramSource &source);

} // namespace torchere::cpu
