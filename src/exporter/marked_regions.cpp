// MarkedRegions: which nodes of a graph become the functions of composites.
#include "exporter/marked_regions.h"

#include "exporter/coverage.h"

#include <algorithm>
#include <set>
#include <unordered_set>

namespace torchere::exporter {

using program::Node;
using program::NodeId;

/// Regions are taken in the order of their ends, so that one inside another comes before it, and is one step
/// of the outer one. Every node is visited once for each region around it.
class RegionFinder {
public:
  RegionFinder(const program::Program &program, const program::Graph &graph, const std::vector<bool> &live)
      : program(program), graph(graph), live(live) {}

  Result<MarkedRegions> run(std::vector<MarkGroup> groups) {
    size_t count = graph.nodes.size();
    found.owners.assign(count, none);
    found.ends.assign(count, none);
    markOf.assign(count, none);
    isInput.assign(count, false);
    for (MarkGroup &group : groups)
      if (live[group.end])
        add(std::move(group));
    for (RegionId region = 0; region < found.regions.size(); ++region)
      TORCHERE_TRY(fill(region));
    findEscapes();
    return std::move(found);
  }

private:
  using RegionId = MarkedRegions::RegionId;
  static constexpr RegionId none = MarkedRegions::none;

  void add(MarkGroup group) {
    auto region = static_cast<RegionId>(found.regions.size());
    for (NodeId mark : group.inputs) {
      markOf[mark] = region;
      isInput[mark] = true;
    }
    for (NodeId mark : group.outputs)
      markOf[mark] = region;
    found.ends[group.end] = region;
    parents.push_back(none);
    found.regions.push_back({std::move(group), {}, {}, {}, {}});
  }

  bool isOutput(NodeId node) const { return markOf[node] != none && !isInput[node]; }

  /// Sizes and graphs belong to no block: each computes its own.
  bool isEverywhere(NodeId node) const {
    return graph.nodes[node].kind == program::NodeKind::GetAttr || isExpression(graph.nodes[node]);
  }

  /// The region, or the outermost one known that holds it.
  RegionId outermost(RegionId region) const {
    while (parents[region] != none)
      region = parents[region];
    return region;
  }

  bool holds(RegionId outer, RegionId inner) const {
    while (inner != none && inner != outer)
      inner = parents[inner];
    return inner == outer;
  }

  /// What a node stands for in the current region: inputs of regions inside are what they mark.
  NodeId resolve(NodeId node) {
    for (; isInput[node] && markOf[node] != current && node >= marks().start;
         node = markedNode(graph.nodes[node]))
      if (seen.insert(node).second)
        found.regions[current].seenThrough.push_back(node);
    return node;
  }

  /// The nodes that one step of a region reads: a node, or the end of a region inside.
  template <class Visit> void forEachRead(NodeId node, Visit visit) const {
    if (RegionId inner = found.ends[node]; inner != none) {
      for (NodeId mark : found.regions[inner].marks.inputs)
        visit(markedNode(graph.nodes[mark]));
      for (NodeId capture : found.regions[inner].captures)
        visit(capture);
      return;
    }
    for (const program::Argument &argument : graph.nodes[node].arguments)
      forEachReference(argument, visit);
  }

  Status fill(RegionId region) {
    current = region;
    captured.clear();
    everywhere.clear();
    seen.clear();
    for (NodeId mark : marks().outputs)
      TORCHERE_TRY(take(markedNode(graph.nodes[mark])));
    TORCHERE_TRY(takeDependents());
    std::ranges::sort(found.regions[region].members);
    std::ranges::sort(found.regions[region].captures);
    return {};
  }

  const MarkGroup &marks() const { return found.regions[current].marks; }

  /// Takes a node and what it is computed from; iterative, since chains are long.
  Status take(NodeId first) {
    std::vector<NodeId> pending = {first};
    Status status;
    while (!pending.empty() && status) {
      NodeId node = resolve(pending.back());
      pending.pop_back();
      if (isInput[node] && markOf[node] == current)
        continue;
      if (isOutput(node) && markOf[node] == current)
        return cycle(node, first);
      if (isEverywhere(node)) {
        if (everywhere.insert(node).second)
          found.regions[current].members.push_back(node);
        continue;
      }
      if (node < marks().start || graph.nodes[node].kind == program::NodeKind::Placeholder) {
        capture(node);
        continue;
      }
      NodeId step = node;
      if (RegionId inner = regionOf(node); inner != none) {
        inner = outermost(inner);
        if (inner == current)
          continue;
        if (inner > current)
          return overlap(inner);
        step = found.regions[inner].marks.end;
        parents[inner] = current;
        own(found.regions[inner]);
      }
      found.regions[current].members.push_back(step);
      found.owners[step] = current;
      forEachRead(step, [&](NodeId read) { pending.push_back(read); });
    }
    return status;
  }

  /// The region that computes the node, which may be its output.
  RegionId regionOf(NodeId node) const { return isOutput(node) ? markOf[node] : found.owners[node]; }

  /// The marks of a region's outputs belong to the region around it.
  void own(const MarkedRegion &inner) {
    for (NodeId mark : inner.marks.outputs)
      found.owners[mark] = current;
  }

  void capture(NodeId node) {
    if (captured.insert(node).second)
      found.regions[current].captures.push_back(node);
  }

  /// What lies between the marks and reads members cannot come before the composite, whose place is the last
  /// mark.
  Status takeDependents() {
    for (NodeId node = marks().start + 1; node < marks().end; ++node) {
      if (!live[node])
        continue;
      TORCHERE_TRY(checkOutputsUnread(node));
      bool isStep = found.ends[node] != none ? parents[found.ends[node]] == none
                                             : found.owners[node] == none && markOf[node] == none;
      if (!isStep || isEverywhere(node) || !readsMembers(node))
        continue;
      if (RegionId inner = found.ends[node]; inner != none) {
        parents[inner] = current;
        own(found.regions[inner]);
      }
      found.regions[current].members.push_back(node);
      found.owners[node] = current;
      forEachRead(node, [&](NodeId read) { hold(resolve(read)); });
    }
    return {};
  }

  bool readsMembers(NodeId node) {
    bool reads = false;
    forEachRead(node, [&](NodeId read) {
      RegionId region = regionOf(resolve(read));
      reads |= region != none && region != current ? outermost(region) == current : region == current;
    });
    return reads;
  }

  /// Makes what a dependent reads available in the region.
  void hold(NodeId node) {
    bool isOwnInput = isInput[node] && markOf[node] == current;
    RegionId region = regionOf(node);
    if (isOwnInput || (region != none && outermost(region) == current))
      return;
    if (!isEverywhere(node))
      capture(node);
    else if (everywhere.insert(node).second)
      found.regions[current].members.push_back(node);
  }

  Status checkOutputsUnread(NodeId node) const {
    if (node <= marks().firstOutput)
      return {};
    std::optional<NodeId> output;
    for (const program::Argument &argument : graph.nodes[node].arguments)
      forEachReference(argument, [&](NodeId read) {
        if (isOutput(read) && markOf[read] == current)
          output = read;
      });
    return output ? cycle(*output, node) : Status();
  }

  Status cycle(NodeId output, NodeId reader) const {
    const auto &outputs = marks().outputs;
    Error error{ErrorCode::InvalidArgument,
                fmt::format("[{}] a cycle: output {} of the composite is read by '{}' before all its inputs "
                            "and outputs are marked; expected one call of mark_inputs() and, after it, one "
                            "of mark_outputs()",
                            marks().name, std::ranges::find(outputs, output) - outputs.begin(),
                            graph.nameOf(reader)),
                program.place(graph.nodes[reader])};
    return tl::unexpected<Error>(std::move(error));
  }

  Status overlap(RegionId other) const {
    Error error{ErrorCode::InvalidArgument,
                fmt::format("[{}] the composite needs a value that composite '{}' computes, which ends "
                            "later: expected one of them inside the other, or after it",
                            marks().name, found.regions[other].marks.name),
                program.place(graph.nodes[marks().end])};
    return tl::unexpected<Error>(std::move(error));
  }

  void findEscapes() {
    std::vector<std::set<NodeId>> escapes(found.regions.size());
    auto read = [&](NodeId node, RegionId by) {
      while (isInput[node] && !holds(markOf[node], by))
        node = markedNode(graph.nodes[node]);
      if (isEverywhere(node))
        return;
      for (RegionId owner = found.owners[node]; owner != none && !holds(owner, by); owner = parents[owner])
        escapes[owner].insert(node);
    };
    for (NodeId node = 0; node < graph.nodes.size(); ++node) {
      if (!live[node])
        continue;
      bool isNumber = isEverywhere(node); // reads nothing but the elements of tensors that are its symbols
      RegionId by = found.owners[node];
      if (isOutput(node))
        by = markOf[node];
      else if (isInput[node])
        by = parents[markOf[node]];
      for (const program::Argument &argument : graph.nodes[node].arguments)
        forEachReference(argument, [&](NodeId reference) {
          if (!isNumber || program::numberOf(graph.nodes[reference].type))
            read(reference, by);
        });
    }
    for (const program::Argument &output : graph.outputs)
      forEachReference(output, [&](NodeId reference) { read(reference, none); });
    for (RegionId region = 0; region < escapes.size(); ++region)
      found.regions[region].escapes.assign(escapes[region].begin(), escapes[region].end());
  }

  const program::Program &program;
  const program::Graph &graph;
  const std::vector<bool> &live;
  MarkedRegions found;
  std::vector<RegionId> parents; ///< of regions; none for those that are in no other
  std::vector<RegionId> markOf;  ///< by node: the region that a mark belongs to
  std::vector<bool> isInput;     ///< by node: whether it is the mark of an input
  RegionId current = 0;
  std::unordered_set<NodeId> captured;   ///< by the current region
  std::unordered_set<NodeId> everywhere; ///< such members of the current region
  std::unordered_set<NodeId> seen;       ///< marks that the current region reads through
};

Result<MarkedRegions> MarkedRegions::find(const program::Program &program, const program::Graph &graph,
                                          const std::vector<bool> &live) {
  TORCHERE_ASSIGN(std::vector<MarkGroup> groups, groupMarks(program, graph));
  if (groups.empty())
    return MarkedRegions();
  return RegionFinder(program, graph, live).run(std::move(groups));
}

const MarkedRegion *MarkedRegions::endingAt(NodeId node) const {
  return ends.empty() || ends[node] == none ? nullptr : &regions[ends[node]];
}

} // namespace torchere::exporter
