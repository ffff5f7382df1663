// Coverage: what of a program has to be lowered, and whether the op table can.
#pragma once

#include "base/error.h"
#include "lowering/op_table.h"
#include "program/program.h"

#include <vector>

namespace torchere::exporter {

/// Calls `visit` on every node that an argument refers to.
void forEachReference(const program::Argument &argument, llvm::function_ref<void(program::NodeId)> visit);

/// Whether an op only checks something at run time and gives no value that shapes the result.
bool isAssertion(std::string_view op);

/// For each node, whether an output depends on it. Assertions are left out.
std::vector<bool> liveNodes(const program::Program &program);

/// Fails with one error that lists every op without a row: how often it is used, and where first.
Status checkCoverage(const program::Program &program, const std::vector<bool> &live,
                     const lowering::OpTable &table);

} // namespace torchere::exporter
