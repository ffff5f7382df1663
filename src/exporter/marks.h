// Marks: the calls in a program that bound the regions which become composites.
#pragma once

#include "base/error.h"
#include "program/program.h"

#include <cstdint>
#include <string>
#include <vector>

namespace torchere::exporter {

/// The op that StableHLOCompositeBuilder calls: `xla::mark_tensor(Tensor x, str name, int pos, str id, bool
/// is_input, Any? attr=None) -> Tensor`. Its result is its argument.
inline constexpr std::string_view markOp = "xla.mark_tensor.default";

bool isMark(const program::Node &node);

/// The node that a mark marks.
program::NodeId markedNode(const program::Node &mark);

/// Marks of one use of a builder. Those of the inputs and of the outputs are in the order of their positions.
struct MarkGroup {
  std::string name; ///< of the composite
  std::vector<program::NodeId> inputs;
  std::vector<program::NodeId> outputs;
  program::NodeId start = 0;       ///< its first mark
  program::NodeId firstOutput = 0; ///< the first mark of an output
  program::NodeId end = 0;         ///< its last mark
};

/// The groups of a graph, in the order of their ends. A builder that is used again begins a new group; one
/// that is used inside its own region, an inner group. An error names the composite and the user's place.
Result<std::vector<MarkGroup>> groupMarks(const program::Program &program, const program::Graph &graph);

/// The composite's attributes as JSON, as the mark of an output has them.
Result<std::string> markAttributes(const MarkGroup &group, const program::Node &mark);

} // namespace torchere::exporter
