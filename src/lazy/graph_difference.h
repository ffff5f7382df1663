// The first differences of two traced programs, for people.
#pragma once

#include "program/program.h"

#include <string>
#include <vector>

namespace torchere::lazy {

/// What is different in `now` from `before`, in the order of the nodes, with both nodes and their source
/// lines; at most `limit` texts, and one that counts the others. What only follows from an earlier difference
/// (the shapes behind it) is left out.
std::vector<std::string> differencesOf(const program::Program &now, const program::Program &before,
                                       size_t limit);

} // namespace torchere::lazy
