// Implements select_and_scatter: places are selected for many windows at a time, then sources scattered. What
// is selected by size and added, as pooling's gradient is, has a kernel.
#include "cpu/vector/window_scatter.h"

#include "cpu/kernels/elements.h"
#include "cpu/kernels/extremum.h"
#include "cpu/kernels/isa_dispatch.h"
#include "cpu/kernels/window_search.h"
#include "cpu/vector/lane_buffers.h"
#include "cpu/vector/lane_program.h"

#include <algorithm>
#include <optional>
#include <type_traits>

namespace torchere::cpu {
namespace {

constexpr int64_t kLanes = 256;
constexpr int64_t kPartElements = 4096;
constexpr int kSearchRow = 7; // scratch

/// The dimensions before the first that windows slide over are planes, which do not meet each other.
struct Planes {
  int64_t count = 1;
  int64_t sources = 1;  ///< of a plane
  int64_t elements = 1; ///< of the operand's
  int first = 0;        ///< dimension of a plane

  explicit Planes(const WindowScatterArgs &args) {
    while (first < args.rank && args.windowDims[first] == 1 && args.windowStrides[first] == 1 &&
           args.padding[first] == 0 && args.dims[first] == args.sourceDims[first])
      count *= args.dims[first++];
    for (int i = first; i < args.rank; ++i) {
      sources *= args.sourceDims[i];
      elements *= args.dims[i];
    }
  }
};

class PlaneScatterer {
public:
  PlaneScatterer(const Context &context, const WindowScatterArgs &args, const Planes &planes)
      : args_(args), planes_(planes), select_(*args.select, context.isa, kLanes),
        scatter_(*args.scatter, context.isa, 1), size_(byteSize(args.type)),
        selected_(static_cast<size_t>(kLanes * size_)), others_(static_cast<size_t>(kLanes * size_)) {}
  void run(int64_t plane);

private:
  void select(int64_t begin, int64_t end);
  void meet(const int64_t (&offset)[kMaxRank]);
  void scatter(int64_t begin, int64_t end);

  const WindowScatterArgs &args_;
  const Planes &planes_;
  LaneProgram select_, scatter_;
  int64_t size_;
  const char *operand_ = nullptr, *source_ = nullptr; ///< of the plane
  char *result_ = nullptr;
  int64_t corners_[kLanes][kMaxRank]; ///< where windows begin
  int64_t places_[kLanes];            ///< of what is selected; -1 for nothing
  std::vector<char> selected_, others_;
  int64_t lanes_ = 0;
};

void PlaneScatterer::run(int64_t plane) {
  operand_ = static_cast<const char *>(args_.operand) + plane * planes_.elements * size_;
  source_ = static_cast<const char *>(args_.source) + plane * planes_.sources * size_;
  result_ = static_cast<char *>(args_.result) + plane * planes_.elements * size_;
  for (int64_t i = 0; i < planes_.elements; ++i)
    std::memcpy(result_ + i * size_, args_.initial, static_cast<size_t>(size_));
  for (int64_t begin = 0; begin < planes_.sources; begin += kLanes) {
    int64_t end = std::min(begin + kLanes, planes_.sources);
    select(begin, end);
    scatter(begin, end);
  }
}

void PlaneScatterer::select(int64_t begin, int64_t end) {
  lanes_ = end - begin;
  for (int64_t lane = 0; lane < lanes_; ++lane) {
    int64_t rest = begin + lane;
    places_[lane] = -1;
    for (int i = args_.rank - 1; i >= planes_.first; --i) {
      corners_[lane][i] = rest % args_.sourceDims[i] * args_.windowStrides[i] - args_.padding[i];
      rest /= args_.sourceDims[i];
    }
  }
  int64_t offset[kMaxRank] = {};
  while (true) {
    meet(offset);
    int i = args_.rank - 1;
    for (; i >= planes_.first; --i) {
      if (++offset[i] < args_.windowDims[i])
        break;
      offset[i] = 0;
    }
    if (i < planes_.first)
      return;
  }
}

/// The element at an offset of all windows meets what has been selected.
void PlaneScatterer::meet(const int64_t (&offset)[kMaxRank]) {
  int64_t places[kLanes];
  for (int64_t lane = 0; lane < lanes_; ++lane) {
    int64_t place = 0;
    bool isInside = true;
    for (int i = planes_.first; i < args_.rank; ++i) {
      int64_t at = corners_[lane][i] + offset[i];
      isInside &= at >= 0 && at < args_.dims[i];
      place = place * args_.dims[i] + at;
    }
    places[lane] = isInside ? place : -1;
  }
  withElement(size_, [&](auto element) {
    using T = decltype(element);
    auto *others = reinterpret_cast<T *>(others_.data());
    for (int64_t lane = 0; lane < lanes_; ++lane)
      std::memcpy(others + lane, operand_ + std::max<int64_t>(places[lane], 0) * size_, sizeof(T));
  });
  uint8_t stays[kLanes];
  const void *inputs[] = {selected_.data(), others_.data()};
  void *output = stays;
  select_.run(inputs, &output, lanes_);
  for (int64_t lane = 0; lane < lanes_; ++lane)
    if (places[lane] >= 0 && (places_[lane] < 0 || !stays[lane])) {
      places_[lane] = places[lane];
      std::memcpy(selected_.data() + lane * size_, others_.data() + lane * size_, static_cast<size_t>(size_));
    }
}

void PlaneScatterer::scatter(int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    int64_t place = places_[i - begin];
    if (place < 0)
      continue;
    uint64_t made = 0;
    const void *inputs[] = {result_ + place * size_, source_ + i * size_};
    void *output = &made;
    scatter_.run(inputs, &output, 1);
    std::memcpy(result_ + place * size_, &made, static_cast<size_t>(size_));
  }
}

/// Whether the program is the op on its two inputs in their order.
bool isOnly(VectorOp op, const VectorProgram &program) {
  uint16_t from[2] = {};
  int applied = 0;
  for (const VectorInstruction &instruction : program.instructions) {
    bool isInMemory = instruction.op == VectorOp::Input || instruction.op == VectorOp::Store;
    if (isInMemory && instruction.to != instruction.type)
      return false;
    if (instruction.op == VectorOp::Input && applied == 0)
      from[instruction.index] = instruction.result;
    else if (instruction.op == op && instruction.operands[0] == from[0] && instruction.operands[1] == from[1])
      ++applied;
    else if (instruction.op != VectorOp::Store)
      return false;
  }
  return applied == 1 && from[0] != from[1];
}

/// The windows of the sources, if a search finds what they select.
std::optional<WindowExtremumArgs> searchOf(const WindowScatterArgs &args, const Planes &planes) {
  bool isLargest = isOnly(VectorOp::GreaterEqual, *args.select);
  bool isFloat = args.type == DType::F32 || args.type == DType::F64;
  auto rank = static_cast<size_t>(args.rank - planes.first);
  if (!isFloat || (!isLargest && !isOnly(VectorOp::LessEqual, *args.select)) ||
      !isOnly(VectorOp::Add, *args.scatter) || rank > kWindowRank ||
      planes.elements > std::numeric_limits<int32_t>::max())
    return std::nullopt;
  WindowExtremumArgs search;
  search.type = args.type;
  search.isLargest = isLargest;
  search.rule = WindowRule::FirstToRemain;
  search.planes = planes.count;
  search.input = args.operand;
  auto put = [&](const int64_t *from, int64_t (&to)[kWindowRank]) {
    putSizes({from + planes.first, rank}, to);
  };
  put(args.dims, search.dims);
  put(args.sourceDims, search.outputDims);
  put(args.windowDims, search.windowDims);
  put(args.windowStrides, search.strides);
  put(args.padding, search.padding);
  return search;
}

/// Adds a plane's sources to what their windows select.
template <class T>
void addSources(const WindowSearch &search, const WindowExtremumArgs &args, int64_t plane, const T *sources,
                T initial, T *result) {
  using Place = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  int64_t count = args.outputDims[2];
  auto *values =
      static_cast<T *>(ThreadPool::scratch(static_cast<size_t>(2 * count) * sizeof(T), kSearchRow));
  auto *places = reinterpret_cast<Place *>(values + count);
  std::fill(result, result + args.planeElements(), initial);
  for (int64_t row = 0; row < args.planeRows(); ++row, sources += count) {
    search.run(plane, row, values, places);
    for (int64_t i = 0; i < count; ++i)
      if (places[i] >= 0)
        result[places[i]] += sources[i];
  }
}

} // namespace

void selectAndScatter(const Context &context, const WindowScatterArgs &args) {
  Planes planes(args);
  if (planes.count * planes.elements == 0)
    return;
  int64_t window = 1;
  for (int i = 0; i < args.rank; ++i)
    window *= args.windowDims[i];
  int64_t parts = std::clamp<int64_t>(planes.count * planes.sources * window / kPartElements, 1,
                                      std::min<int64_t>(planes.count, 64));
  if (std::optional<WindowExtremumArgs> searched = searchOf(args, planes)) {
    WindowSearch search(context.isa, *searched);
    context.pool.parallelFor(parts, [&](int64_t part) {
      withNumber(args.type, [&](auto number) {
        using T = decltype(number);
        for (int64_t i = partBegin(planes.count, parts, part); i < partBegin(planes.count, parts, part + 1);
             ++i)
          addSources<T>(search, *searched, i, static_cast<const T *>(args.source) + i * planes.sources,
                        *static_cast<const T *>(args.initial),
                        static_cast<T *>(args.result) + i * planes.elements);
      });
    });
    return;
  }
  context.pool.parallelFor(parts, [&](int64_t part) {
    PlaneScatterer scatterer(context, args, planes);
    for (int64_t i = partBegin(planes.count, parts, part); i < partBegin(planes.count, parts, part + 1); ++i)
      scatterer.run(i);
  });
}

} // namespace torchere::cpu
