// extract(): a part of a program as a program of its own, to be run and compared alone.
#pragma once

#include "base/error.h"
#include "program/program.h"

#include <memory>
#include <span>

namespace torchere::program {

/// The part of the main graph that computes `outputs`, from `inputs` on. Its user inputs are the nodes
/// `inputs`, then the placeholders that are still read or that sizes follow from (weights too), in the
/// graph's order; its results are `outputs`, in theirs. Nodes keep their names, types and places. Types and
/// labels belong to the whole program, which the part keeps alive. Fails if a node does not exist or is no
/// input of the kind that a program can have.
TORCHERE_EXPORT Result<std::shared_ptr<Program>> extract(const std::shared_ptr<const Program> &whole,
                                                         std::span<const NodeId> outputs,
                                                         std::span<const NodeId> inputs);

} // namespace torchere::program
