// Plans and runs vector programs whose results are reduced.
#include "cpu/vector/joined_plan.h"

#include "cpu/kernels/isa_dispatch.h"
#include "cpu/vector/op_rules.h"
#include "cpu/vector/tile_runner.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace torchere::cpu {

namespace {

constexpr int64_t kPartElements = 16384;
constexpr int64_t kMaxParts = 64;
constexpr int64_t kShortColumns = 16;
constexpr int64_t kChunkRows = 64;
constexpr int64_t kLongestSegment = 8192; ///< steps
constexpr int64_t kMostPartialBytes = 1 << 24;
constexpr int kPartialSums = 4, kUnitSums = 5; // scratch

int64_t aligned(int64_t bytes) {
  return (bytes + 63) / 64 * 64;
}

} // namespace

void JoinedPlan::Loops::add(int dim, int64_t size, int64_t tile) {
  dimension[count] = dim;
  width[count] = tile;
  steps[count++] = divideUp(size, tile);
}

int64_t JoinedPlan::Loops::total() const {
  int64_t product = 1;
  for (int i = 0; i < count; ++i)
    product *= steps[i];
  return product;
}

class JoinedPlanner {
public:
  JoinedPlanner(JoinedPlan &plan, VectorWalk walk, std::span<const JoinedOutput> outputs)
      : plan(plan), walk(std::move(walk)), outputs(outputs.begin(), outputs.end()) {}

  void run(const VectorProgram &program, Isa isa) {
    bool reduces = false;
    for (int i = 0; i < walk.rank; ++i)
      reduces |= isReduced(i);
    if (!reduces)
      addOne();
    chooseColumns();
    chooseRows(program.slots);
    walk.isArranged = true;
    walk.keepsRows = plan.isAcross || plan.keepsRows;
    for (const JoinedOutput &output : this->outputs) {
      bool isSum = output.reduction == Reduction::Sum && computeType(output.type) == DType::F32;
      walk.reductions.push_back(!isSum          ? TileReduction::Other
                                : plan.isAcross ? TileReduction::SumAcross
                                                : TileReduction::Sum);
    }
    plan.tiles = VectorPlan(program, isa, walk);
    layLoops();
    describeOutputs();
    cut(program);
  }

private:
  bool isReduced(int dimension) const { return outputs.front().strides[dimension] == 0; }
  template <class Fn> void eachStrides(Fn fn) {
    for (auto *operands : {&walk.inputs, &walk.outputs})
      for (VectorStrides &strides : *operands)
        fn(strides);
    for (JoinedOutput &output : outputs)
      fn(output.strides);
  }
  void addOne() {
    eachStrides([&](VectorStrides &strides) { strides[walk.rank] = 0; });
    walk.dims[walk.rank++] = 1;
  }
  /// Puts a dimension in front of another one that is behind it.
  void move(int from, int to) {
    auto rotate = [&](auto &list) {
      std::rotate(list.begin() + from, list.begin() + from + 1, list.begin() + to + 1);
    };
    rotate(walk.dims);
    eachStrides(rotate);
  }
  void chooseColumns();
  void chooseRows(int slots);
  void layLoops();
  void cut(const VectorProgram &program);
  void describeOutputs();

  JoinedPlan &plan;
  VectorWalk walk;
  std::vector<JoinedOutput> outputs;
};

JoinedPlan::JoinedPlan(const VectorProgram &program, Isa isa, VectorWalk walk,
                       std::span<const JoinedOutput> outputs) {
  JoinedPlanner(*this, std::move(walk), outputs).run(program, isa);
}

/// Along which most operands are contiguous; if that is short, along a longer one where none has strides.
void JoinedPlanner::chooseColumns() {
  auto contiguous = [&](int dimension) {
    auto isOne = [&](const VectorStrides &strides) { return strides[dimension] == 1; };
    return std::ranges::count_if(walk.inputs, isOne) + std::ranges::count_if(walk.outputs, isOne);
  };
  auto isWithoutStrides = [&](int dimension) {
    bool isWithout = true;
    eachStrides([&](const VectorStrides &strides) {
      isWithout &= strides[dimension] == 0 || strides[dimension] == 1;
    });
    return isWithout;
  };
  auto isShort = [&](int dimension) { return walk.dims[dimension] < kShortColumns; };
  int best = walk.rank - 1;
  for (int i = best - 1; i >= 0; --i)
    if (contiguous(i) > contiguous(best))
      best = i;
  for (int i = walk.rank - 1; isShort(best) && i >= 0; --i)
    if (!isShort(i) && contiguous(i) > 0 && isWithoutStrides(i))
      best = i;
  move(best, walk.rank - 1);
}

/// Along the dimension that fills tiles; across columns that are kept, a reduced one.
void JoinedPlanner::chooseRows(int slots) {
  int last = walk.rank - 1;
  bool isAcross = !isReduced(last);
  int64_t wanted = std::max<int64_t>(tileElements(slots, 4) / walk.dims[last], 1);
  int best = -1;
  for (int i = last - 1; i >= 0; --i) {
    if (isAcross && !isReduced(i))
      continue;
    if (best < 0 || std::min(walk.dims[i], wanted) >= 2 * std::min(walk.dims[best], wanted))
      best = i;
  }
  if (best >= 0)
    move(best, last - 1);
  plan.isAcross = isAcross;
  plan.keepsRows = best >= 0 && !isReduced(last - 1);
}

void JoinedPlanner::layLoops() {
  const VectorPlan &tiles = plan.tiles;
  int last = walk.rank - 1;
  for (int i = 0; i <= last; ++i) {
    int64_t tile = i == last ? tiles.tileColumns : i == last - 1 ? tiles.tileRows : 1;
    (isReduced(i) ? plan.steps : plan.units).add(i, walk.dims[i], tile);
  }
  plan.unitResults = plan.isAcross ? tiles.tileColumns : plan.keepsRows ? tiles.tileRows : 1;
  // Rows in a chunk are those that kernels join one after the other.
  int64_t rows = plan.isAcross ? std::max<int64_t>(tiles.tileRows, 1) : 1;
  plan.chunk = std::max<int64_t>(kChunkRows / rows, 1);
}

/// Into parts: of results, or else of the steps of each.
void JoinedPlanner::cut(const VectorProgram &program) {
  int64_t units = plan.units.total(), steps = plan.steps.total(), elements = 1;
  for (int i = 0; i < walk.rank; ++i)
    elements *= walk.dims[i];
  int64_t work = elements * static_cast<int64_t>(program.instructions.size()) / 2;
  int64_t wanted = std::clamp<int64_t>(work / kPartElements, 1, kMaxParts);
  // The segments' sums are joined by one thread.
  int64_t rows = plan.isAcross ? plan.tiles.tileRows : plan.tiles.tileRows * plan.tiles.tileColumns;
  int64_t most = std::max<int64_t>(steps * std::max<int64_t>(rows, 1) / 32, 1);
  int64_t fitting = std::max<int64_t>(kMostPartialBytes / plan.sumBytes / units, 1);
  plan.segments = std::clamp<int64_t>(wanted / units, 1, std::min({steps, most, fitting}));
  if (units < kMaxParts)
    plan.segments = std::max(plan.segments, std::min(steps / kLongestSegment, fitting));
  plan.parts = std::min(wanted, units * plan.segments);
}

void JoinedPlanner::describeOutputs() {
  for (const JoinedOutput &given : outputs) {
    JoinedPlan::Output output;
    output.type = given.type;
    output.reduction = given.reduction;
    output.sumType = computeType(given.type);
    output.size = static_cast<int64_t>(byteSize(given.type));
    output.sumSize = static_cast<int64_t>(byteSize(output.sumType));
    output.neutral = neutralOf(output.sumType, given.reduction);
    output.strides = given.strides;
    for (int64_t &stride : output.strides)
      stride *= output.size;
    plan.sumBytes += aligned(plan.unitResults * output.sumSize);
    plan.outputs.push_back(output);
  }
}

/// What a thread runs.
class JoinedPlan::Worker {
public:
  Worker(const Context &context, const JoinedPlan &plan, const Operands &operands)
      : plan_(plan), operands_(operands), kernels_(kernelsOf(context.isa)),
        runner_(plan.tiles, operands.inputs, operands.stored),
        memory_(
            static_cast<char *>(ThreadPool::scratch(2 * plan.sumBytes + plan.unitResults * 8, kUnitSums))) {
    runner_.setUp();
  }
  /// The sums of a unit's segment: to the results, or to `partial`.
  void run(int64_t unit, int64_t segment, char *partial);
  void place(int64_t unit);
  /// Sums to results, as many as the unit has that was placed last.
  void finish(char *sums);
  void fill(char *sums) const;
  /// Joins sums to sums.
  void join(const char *from, char *to) const;

private:
  void placeSteps(int64_t step);
  void advance();
  void runStep(char *sums);

  const JoinedPlan &plan_;
  const Operands &operands_;
  const IsaKernels &kernels_;
  VectorPlan::Runner runner_;
  char *memory_;
  std::array<int64_t, kVectorRank> position_ = {}, step_ = {};
};

void JoinedPlan::Worker::fill(char *sums) const {
  for (const Output &output : plan_.outputs) {
    Primitive repeat = plan_.tiles.broadcasts[log2Of(output.sumSize)];
    repeat(sums, &output.neutral, nullptr, nullptr, plan_.unitResults);
    sums += aligned(plan_.unitResults * output.sumSize);
  }
}

void JoinedPlan::Worker::join(const char *from, char *to) const {
  int64_t n = plan_.unitResults;
  for (const Output &output : plan_.outputs) {
    auto type = static_cast<int>(output.sumType), op = static_cast<int>(output.reduction);
    kernels_.reduceAcross[type][op]({from, n, 1, 1, n, to});
    from += aligned(n * output.sumSize);
    to += aligned(n * output.sumSize);
  }
}

/// Of the unit's tiles.
void JoinedPlan::Worker::place(int64_t unit) {
  const Loops &units = plan_.units;
  for (int i = units.count - 1; i >= 0; --i) {
    position_[units.dimension[i]] = unit % units.steps[i] * units.width[i];
    unit /= units.steps[i];
  }
}

void JoinedPlan::Worker::placeSteps(int64_t step) {
  const Loops &steps = plan_.steps;
  for (int i = steps.count - 1; i >= 0; --i) {
    step_[i] = step % steps.steps[i];
    position_[steps.dimension[i]] = step_[i] * steps.width[i];
    step /= steps.steps[i];
  }
}

void JoinedPlan::Worker::advance() {
  const Loops &steps = plan_.steps;
  for (int i = steps.count - 1; i >= 0; --i) {
    int64_t &position = position_[steps.dimension[i]];
    position += steps.width[i];
    if (++step_[i] < steps.steps[i])
      return;
    step_[i] = position = 0;
  }
}

void JoinedPlan::Worker::runStep(char *sums) {
  const VectorPlan &tiles = plan_.tiles;
  int last = tiles.rank - 1;
  int64_t columns = std::min(tiles.tileColumns, tiles.columns - position_[last]);
  int64_t rows = last == 0 ? 1 : std::min(tiles.tileRows, tiles.rows - position_[last - 1]);
  size_t first = tiles.outputs.size();
  char *next = sums;
  for (size_t i = 0; i < plan_.outputs.size(); ++i) {
    runner_.joinTo(first + i, next);
    next += aligned(plan_.unitResults * plan_.outputs[i].sumSize);
  }
  runner_.runAt(position_, rows, columns);
  for (size_t i = 0; i < plan_.outputs.size(); ++i) {
    const Output &output = plan_.outputs[i];
    auto type = static_cast<int>(output.sumType), op = static_cast<int>(output.reduction);
    if (!runner_.joins(first + i)) {
      const TileValue &tile = runner_.kept(first + i);
      int64_t rowStride = tile.rowStride / output.sumSize;
      if (plan_.isAcross)
        kernels_.reduceAcross[type][op]({tile.data, rowStride, 1, rows, columns, sums});
      else if (plan_.keepsRows)
        kernels_.reduceAlong[type][op]({tile.data, rowStride, 1, rows, columns, sums});
      else
        kernels_.reduceAlong[type][op]({tile.data, 0, 1, 1, rows * columns, sums});
    }
    sums += aligned(plan_.unitResults * output.sumSize);
  }
}

void JoinedPlan::Worker::run(int64_t unit, int64_t segment, char *partial) {
  int64_t steps = plan_.steps.total();
  int64_t begin = partBegin(steps, plan_.segments, segment),
          end = partBegin(steps, plan_.segments, segment + 1);
  char *sums = partial ? partial : memory_, *chunk = memory_ + plan_.sumBytes;
  place(unit);
  placeSteps(begin);
  fill(sums);
  bool isShort = end - begin <= plan_.chunk;
  for (int64_t step = begin; step < end;) {
    if (!isShort)
      fill(chunk);
    for (int64_t stop = std::min(step + plan_.chunk, end); step < stop; ++step) {
      runStep(isShort ? sums : chunk);
      advance();
    }
    if (!isShort)
      join(chunk, sums);
  }
  if (!partial)
    finish(sums);
}

void JoinedPlan::Worker::finish(char *sums) {
  const VectorPlan &tiles = plan_.tiles;
  int last = tiles.rank - 1, along = plan_.isAcross ? last : last - 1;
  int64_t count = plan_.isAcross    ? std::min(tiles.tileColumns, tiles.columns - position_[last])
                  : plan_.keepsRows ? std::min(tiles.tileRows, tiles.rows - position_[last - 1])
                                    : 1;
  char *finished = memory_ + 2 * plan_.sumBytes;
  for (size_t i = 0; i < plan_.outputs.size(); ++i) {
    const Output &output = plan_.outputs[i];
    char *result = static_cast<char *>(operands_.results[i]);
    for (int d = 0; d < plan_.units.count; ++d)
      result += position_[plan_.units.dimension[d]] * output.strides[plan_.units.dimension[d]];
    int64_t stride = count == 1 ? output.size : output.strides[along];
    bool isDense = stride == output.size;
    finishSums(kernels_, output.type, output.reduction, operands_.initials[i], 1, sums, count,
               isDense ? result : finished);
    for (int64_t k = 0; !isDense && k < count; ++k)
      std::memcpy(result + k * stride, finished + k * output.size, static_cast<size_t>(output.size));
    sums += aligned(plan_.unitResults * output.sumSize);
  }
}

void JoinedPlan::run(const Context &context, const Operands &operands) const {
  int64_t unitCount = units.total(), tasks = unitCount * segments;
  char *partial =
      segments == 1
          ? nullptr
          : static_cast<char *>(ThreadPool::scratch(static_cast<size_t>(tasks * sumBytes), kPartialSums));
  context.pool.parallelFor(parts, [&](int64_t part) {
    Worker worker(context, *this, operands);
    for (int64_t task = partBegin(tasks, parts, part), end = partBegin(tasks, parts, part + 1); task < end;
         ++task)
      worker.run(task / segments, task % segments, partial ? partial + task * sumBytes : nullptr);
  });
  if (!partial)
    return;
  Worker worker(context, *this, operands);
  for (int64_t unit = 0; unit < unitCount; ++unit) {
    char *sums = partial + unit * segments * sumBytes;
    for (int64_t segment = 1; segment < segments; ++segment)
      worker.join(sums + segment * sumBytes, sums);
    worker.place(unit);
    worker.finish(sums);
  }
}

} // namespace torchere::cpu
