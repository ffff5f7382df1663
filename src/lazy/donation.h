// Which results of a graph take the memory of arrays that nobody reads after it.
#pragma once

#include "lazy/graph.h"
#include "session/session.h"

#include <vector>

namespace torchere::lazy {

int64_t byteSizeOf(const TensorType &type);

/// Pairs of a dead leaf and an output of the same type. An output that was computed from the leaf by ops on
/// their first operand, as an optimizer computes a parameter from its old value, takes that one.
std::vector<session::InputDonation> findDonations(const Graph &graph);

} // namespace torchere::lazy
