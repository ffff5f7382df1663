// The regions that a thread is in, and the graphs that each has had.
#include "lazy/region.h"

#include <torch/library.h>

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace torchere::lazy {

namespace {

struct Region {
  std::string name;
  int64_t function; ///< equal for all entries to one function
  int64_t graphLimit;
  bool mayExecute;
};

/// The graphs of each function with a limit. Never destroyed: threads may still trace while the process ends.
struct GraphTable {
  std::mutex mutex;
  std::map<int64_t, std::set<uint64_t>> graphs;
};
GraphTable &graphTable() {
  static auto *table = new GraphTable;
  return *table;
}

thread_local std::vector<Region> regions; // the innermost last

} // namespace

Status checkRegionMayExecute() {
  if (regions.empty() || regions.back().mayExecute)
    return {};
  return fail(ErrorCode::FailedPrecondition,
              "[torch_xla.compile] {} is not one graph: got a value that is read inside of it, or a sync, "
              "expected neither with full_graph=True",
              regions.back().name);
}

Status countGraphOfRegion(uint64_t hash) {
  if (regions.empty() || regions.back().graphLimit < 0)
    return {};
  const Region &region = regions.back();
  GraphTable &table = graphTable();
  std::lock_guard lock(table.mutex);
  std::set<uint64_t> &graphs = table.graphs[region.function];
  if (graphs.contains(hash))
    return {};
  if (graphs.size() >= static_cast<size_t>(region.graphLimit))
    return fail(ErrorCode::FailedPrecondition,
                "[torch_xla.compile] {} has too many graphs: got {}, expected at most {} "
                "(max_different_graphs)",
                region.name, graphs.size() + 1, region.graphLimit);
  graphs.insert(hash);
  return {};
}

static void enterRegion(std::string name, int64_t function, bool isOneGraph, int64_t graphLimit) {
  regions.push_back({std::move(name), function, graphLimit, !isOneGraph});
}

/// What the region traced is computed next, as one graph.
static void endTracing() {
  TORCH_CHECK(!regions.empty(), "[torch_xla.compile] no region to end");
  regions.back().mayExecute = true;
}

static void leaveRegion() {
  TORCH_CHECK(!regions.empty(), "[torch_xla.compile] no region to leave");
  regions.pop_back();
}

static void forgetRegion(int64_t function) {
  GraphTable &table = graphTable();
  std::lock_guard lock(table.mutex);
  table.graphs.erase(function);
}

TORCH_LIBRARY_FRAGMENT(torchere_lazy, library) {
  library.def("enter_region(str name, int function, bool is_one_graph, int graph_limit) -> ()", &enterRegion);
  library.def("end_tracing() -> ()", &endTracing);
  library.def("leave_region() -> ()", &leaveRegion);
  library.def("forget_region(int function) -> ()", &forgetRegion);
}

} // namespace torchere::lazy
