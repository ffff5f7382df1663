// Implements scatters by a vector program: a run of a slice's elements is joined at once.
#include "cpu/vector/scatter_fold.h"

#include "cpu/kernels/elements.h"
#include "cpu/vector/lane_buffers.h"
#include "cpu/vector/lane_program.h"

namespace torchere::cpu {
namespace {

constexpr int64_t kLanes = 256;

class Scatterer {
public:
  Scatterer(const Context &context, const ScatterFoldArgs &args)
      : args_(args), program_(*args.program, context.isa, kLanes),
        captures_(args.captures, args.captureTypes, kLanes), buffers_(3 * args.operands.size()),
        inputs_(2 * args.operands.size() + captures_.count()), outputs_(args.operands.size()) {
    size_t count = args.operands.size();
    for (std::vector<char> &buffer : buffers_)
      buffer.resize(kLanes * 8);
    for (size_t i = 0; i < 2 * count; ++i)
      inputs_[i] = buffers_[i].data();
    for (size_t i = 0; i < captures_.count(); ++i)
      inputs_[2 * count + i] = captures_.at(i);
    for (size_t i = 0; i < count; ++i)
      outputs_[i] = buffers_[2 * count + i].data();
  }

  /// Joins n elements, none of which is another.
  void join(int64_t to, int64_t from, int64_t n, int64_t toStride, int64_t fromStride) {
    for (int64_t first = 0; first < n; first += kLanes)
      joinLanes(to + first * toStride, from + first * fromStride, std::min(kLanes, n - first), toStride,
                fromStride);
  }

private:
  void joinLanes(int64_t to, int64_t from, int64_t n, int64_t toStride, int64_t fromStride) {
    size_t count = args_.operands.size();
    for (size_t i = 0; i < count; ++i)
      withElement(byteSize(args_.operands[i].type), [&](auto element) {
        using T = decltype(element);
        auto *tensor = static_cast<const T *>(args_.operands[i].tensor) + to;
        auto *updates = static_cast<const T *>(args_.operands[i].updates) + from;
        auto *old = reinterpret_cast<T *>(buffers_[i].data());
        auto *added = reinterpret_cast<T *>(buffers_[count + i].data());
        for (int64_t lane = 0; lane < n; ++lane) {
          std::memcpy(old + lane, tensor + lane * toStride, sizeof(T));
          std::memcpy(added + lane, updates + lane * fromStride, sizeof(T));
        }
      });
    program_.run(inputs_.data(), outputs_.data(), n);
    for (size_t i = 0; i < count; ++i)
      withElement(byteSize(args_.operands[i].type), [&](auto element) {
        using T = decltype(element);
        auto *tensor = static_cast<T *>(args_.operands[i].tensor) + to;
        auto *made = static_cast<const T *>(outputs_[i]);
        for (int64_t lane = 0; lane < n; ++lane)
          std::memcpy(tensor + lane * toStride, made + lane, sizeof(T));
      });
  }

  const ScatterFoldArgs &args_;
  LaneProgram program_;
  CaptureLanes captures_;
  std::vector<std::vector<char>> buffers_; ///< old elements, updates, new elements, by operand
  std::vector<const void *> inputs_;
  std::vector<void *> outputs_;
};

} // namespace

void scatterFold(const Context &context, const ScatterFoldArgs &args) {
  const IndexedSlices &slices = args.slices;
  int64_t count = slices.count();
  if (count * slices.elements() == 0)
    return;
  ScatterCut cut(slices, byteSize(args.operands[0].type));
  context.pool.parallelFor(cut.parts, [&](int64_t part) {
    int64_t low[kMaxRank], high[kMaxRank];
    cut.bounds(slices, part, low, high);
    Scatterer scatterer(context, args);
    SliceWalk walk(slices, 0);
    for (int64_t i = 0; i < count; ++i, walk.next())
      SliceRuns::visit(slices, walk.starts(), walk.offset(), low, high,
                       [&](int64_t to, int64_t from, int64_t n, int64_t toStride, int64_t fromStride) {
                         scatterer.join(to, from, n, toStride, fromStride);
                       });
  });
}

} // namespace torchere::cpu
