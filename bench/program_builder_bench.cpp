// What it costs to build, hash and drop a program: a million nodes of two tensor arguments, each with a type
// of its own, in one program and in programs of a thousand.
//   program_builder_bench [REPEATS]
// Writes one JSON document: nanoseconds a node, the best of the repeats and their median.
#include "base/json.h"
#include "program/builder.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace torchere;
using namespace torchere::program;

using Clock = std::chrono::steady_clock;

/// Seconds of each step, added up.
struct Steps {
  double build = 0, hash = 0, drop = 0;
};

static double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// x1 = add(x0, x0); x2 = add(x1, x0); ...: as a front end does that knows each op's result.
static void addNodes(Builder &builder, const Op *add, size_t count) {
  GraphBuilder graph = builder.main();
  std::array<SymInt, 2> shape = {SymInt(32), SymInt(768)};
  graph.placeholder(builder.tensorType(DType::F32, shape));
  for (size_t i = 1; i < count; ++i) {
    std::array arguments = {Argument{NodeReference{static_cast<NodeId>(i - 1)}}, Argument{NodeReference{0}}};
    graph.call(add, arguments, builder.tensorType(DType::F32, shape));
  }
}

static Steps run(const std::shared_ptr<OpInterner> &ops, const Op *add, size_t programs, size_t nodes,
                 uint64_t &sum) {
  Steps steps;
  for (size_t i = 0; i < programs; ++i) {
    Clock::time_point start = Clock::now();
    Builder builder(ops);
    addNodes(builder, add, nodes);
    auto program = std::make_unique<Program>(builder.finish());
    steps.build += since(start);
    start = Clock::now();
    sum += program->structuralHash()[0];
    steps.hash += since(start);
    start = Clock::now();
    program.reset();
    steps.drop += since(start);
  }
  return steps;
}

static OrderedJson figures(const std::vector<Steps> &all, size_t count) {
  OrderedJson json;
  auto addFigure = [&](const char *name, auto &&value) {
    std::vector<double> nanoseconds;
    for (const Steps &steps : all)
      nanoseconds.push_back(value(steps) * 1e9 / static_cast<double>(count));
    std::sort(nanoseconds.begin(), nanoseconds.end());
    json[name] = {{"best", nanoseconds.front()}, {"median", nanoseconds[nanoseconds.size() / 2]}};
  };
  addFigure("build", [](const Steps &steps) { return steps.build; });
  addFigure("hash", [](const Steps &steps) { return steps.hash; });
  addFigure("drop", [](const Steps &steps) { return steps.drop; });
  addFigure("all", [](const Steps &steps) { return steps.build + steps.hash + steps.drop; });
  return json;
}

int main(int argc, char **argv) {
  constexpr size_t count = 1'000'000;
  int repeats = argc > 1 ? std::max(std::atoi(argv[1]), 1) : 10;
  auto ops = std::make_shared<OpInterner>();
  Result<const Op *> add = ops->intern(
      "aten.add.Tensor", "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
  if (!add) {
    std::fprintf(stderr, "%s\n", add.error().text().c_str());
    return 1;
  }
  OrderedJson document;
  uint64_t sum = 0; // what is not used might not be computed
  for (size_t programs : {size_t{1}, size_t{1000}}) {
    std::vector<Steps> all;
    for (int repeat = 0; repeat < repeats; ++repeat)
      all.push_back(run(ops, *add, programs, count / programs, sum));
    document[fmt::format("{} nodes a program", count / programs)] = figures(all, count);
  }
  document["sum"] = sum;
  std::printf("%s\n", printJson(document, 2).c_str());
  return 0;
}
