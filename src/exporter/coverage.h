// Coverage: which parts of a program have to be lowered, and whether the op table can lower them.
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

/// For each node, whether an output of the graph depends on it. Assertions are not counted.
std::vector<bool> liveNodes(const program::Graph &graph);

/// Whether an op without a row becomes a custom call, because its namespace is listed.
bool isCustomCall(std::string_view op, const std::set<std::string> &namespaces);

/// Fails with one error that lists every op without a lowering, in the main graph or a graph that it uses:
/// how often it is used, and where first.
Status checkCoverage(const program::Program &program, const std::set<std::string> &customOpNamespaces);

} // namespace torchere::exporter
