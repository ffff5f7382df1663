// Coverage: which parts of a program have to be lowered, and whether the op table can lower them.
#pragma once

#include "base/error.h"
#include "lowering/op_table.h"
#include "program/program.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace torchere::exporter {

/// Calls `visit` on every node that an argument refers to.
void forEachReference(const program::Argument &argument, llvm::function_ref<void(program::NodeId)> visit);

/// Whether a node is an int, float or bool that follows from symbols: its value is its type's expression, and
/// no op computes it. Elements of tensors (`item`) and of a loop's results do not.
bool isExpression(const program::Node &node);

/// For each node, whether an output of the graph, a custom call with an effect, or one of `further` depends
/// on it. A size that depends on data depends on the op whose result has it. Assertions are not counted. Of a
/// composite's marks, all are live if one of its outputs is.
std::vector<bool> liveNodes(const program::Program &program, const program::Graph &graph,
                            const std::vector<program::NodeId> &further = {});

/// Whether an op without a row becomes a custom call, because its namespace is listed.
bool isCustomCall(std::string_view op, const std::set<std::string> &namespaces);

/// The first size of a result that depends on data; none for a number.
std::optional<program::SymInt> unbackedSize(const program::ExpressionPool &expressions,
                                            const program::Type &type);

/// A size of a result, printed as `size`, that is known only when the program has run.
Error sizeFromData(const program::Node &node, std::string_view size);

/// StableHLO has no complex numbers of half precision, complex32. `what` has them: "a result of complex32".
Error halfComplex(std::string_view subject, std::string_view what);

/// Fails with one error that lists every op without a lowering, in the main graph or a graph that it uses:
/// how often it is used, and where first.
Status checkCoverage(const program::Program &program, const std::set<std::string> &customOpNamespaces);

} // namespace torchere::exporter
