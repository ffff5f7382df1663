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

/// Whether an op only checks something at run time and gives no value that shapes the result.
bool isAssertion(std::string_view op);

/// For each node, whether an output depends on it. Assertions are left out.
std::vector<bool> liveNodes(const program::Program &program);

/// Whether an op without a row is to be a custom call: its namespace is one of those.
bool isCustomCall(std::string_view op, const std::set<std::string> &namespaces);

/// Fails with one error that lists every op that cannot be lowered: how often it is used, and where first.
Status checkCoverage(const program::Program &program, const std::vector<bool> &live,
                     const std::set<std::string> &customOpNamespaces);

} // namespace torchere::exporter
