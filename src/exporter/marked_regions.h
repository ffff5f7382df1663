// MarkedRegions: which nodes of a graph become the functions of composites, as marks bound them.
#pragma once

#include "exporter/marks.h"

#include <optional>
#include <vector>

namespace torchere::exporter {

/// One composite: what lies between the marks of a group.
struct MarkedRegion {
  MarkGroup marks;
  /// The nodes that its function computes, in the program's order: what the outputs are computed from, up to
  /// the marked inputs and to what precedes the region, and what between the marks is computed from those. Of
  /// a region inside, its last mark stands for it.
  std::vector<program::NodeId> members;
  /// Nodes outside that members read, in the order of the program: operands after the marked ones.
  std::vector<program::NodeId> captures;
  /// Marks of inputs of other regions that members read through: in the function they are what they mark.
  std::vector<program::NodeId> seenThrough;
  /// Members that are read outside, in the program's order: results after the marked ones.
  std::vector<program::NodeId> escapes;
};

class MarkedRegions {
public:
  /// `live` are the nodes that are lowered. An error names the composite and the user's place.
  static Result<MarkedRegions> find(const program::Program &program, const program::Graph &graph,
                                    const std::vector<bool> &live);

  bool empty() const { return regions.empty(); }
  /// Whether the node is computed by the function of a region, and by no block around it.
  bool isMember(program::NodeId node) const { return !owners.empty() && owners[node] != none; }
  /// The region whose last mark a node is.
  const MarkedRegion *endingAt(program::NodeId node) const;

private:
  friend class RegionFinder;
  using RegionId = uint32_t;
  static constexpr RegionId none = ~RegionId{0};

  std::vector<MarkedRegion> regions;
  std::vector<RegionId> owners; ///< by node; empty in a graph without marks
  std::vector<RegionId> ends;   ///< by node: the region whose last mark it is
};

} // namespace torchere::exporter
