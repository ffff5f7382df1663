// Coverage: what of a program has to be lowered, and whether the op table can.
#pragma once

#include "base/error.h"
#include "lowering/op_table.h"
#include "program/program.h"

#include <set>
#include <string>
#include <vector>

namespace torchere::exporter {

/// Calls `visit` on every node that an argument refers to.
void forEachReference(const program::Argument &argument, llvm::function_ref<void(program::NodeId)> visit);

/// For each node, whether an output of the graph depends on it. Assertions are left out.
std::vector<bool> liveNodes(const program::Graph &graph);

/// Whether an op without a row is to be a custom call: its namespace is one of those.
bool isCustomCall(std::string_view op, const std::set<std::string> &namespaces);

/// Fails with one error that lists every op that cannot be lowered, in the main graph or one that it uses:
/// how often it is used, and where first.
Status checkCoverage(const program::Program &program, const std::set<std::string> &customOpNamespaces);

} // namespace torchere::exporter
