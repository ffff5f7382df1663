// Implements PlanLimits.
#include "cpu/plan/limits.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace torchere::cpu {

static constexpr size_t mostDimensions = 64;

int64_t boundedProduct(std::span<const int64_t> sizes) {
  int64_t product = 1;
  bool isEmpty = false;
  for (int64_t size : sizes) {
    if (size < 0 || size >= mostElements)
      return -1;
    isEmpty |= size == 0;
  }
  for (int64_t size : sizes)
    if (!isEmpty && (__builtin_mul_overflow(product, size, &product) || product >= mostElements))
      return -1;
  return isEmpty ? 0 : product;
}

View strided(const View &view, const std::vector<DimensionStride> &dimensions) {
  View made = view;
  made.shape.clear();
  made.strides.clear();
  for (const DimensionStride &dimension : dimensions) {
    made.shape.push_back(dimension.size);
    made.strides.push_back(dimension.stride);
  }
  return made;
}

Status expectShape(std::string_view what, const Sizes &got, const Sizes &expected) {
  return expect(got == expected, "{}: got [{}], expected [{}]", what, fmt::join(got, ", "),
                fmt::join(expected, ", "));
}

Status expectWithin(std::string_view what, std::span<const int64_t> numbers, int64_t low, int64_t high) {
  for (int64_t number : numbers)
    TORCHERE_TRY(
        expect(number >= low && number <= high, "{}: got {}, expected {} to {}", what, number, low, high));
  return {};
}

/// The elements lie in the buffer.
Status PlanLimits::lies(const View &view) const {
  TORCHERE_TRY(expect(view.buffer < plan.buffers.size(), "a buffer: got {}, expected one of {}", view.buffer,
                      plan.buffers.size()));
  TORCHERE_TRY(expectEqual("strides of a view", view.strides.size(), view.shape.size()));
  TORCHERE_TRY(expect(view.shape.size() <= mostDimensions,
                      "dimensions of a view: got {}, expected at most {}", view.shape.size(),
                      mostDimensions));
  TORCHERE_TRY(expect(boundedProduct(view.shape) >= 0, "the elements of a view: expected fewer than {}",
                      mostElements));
  TORCHERE_TRY(expectWithin("strides of a view", view.strides, -mostElements, mostElements));
  const Buffer &buffer = plan.buffers[view.buffer];
  int64_t size = view.elementSize(), place = buffer.home == Home::Part ? buffer.offset : 0;
  TORCHERE_TRY(expect(place % size == 0, "a part at byte {}: expected a multiple of {}", place, size));
  TORCHERE_TRY(expectWithin("offset of a view", {view.offset}, 0, mostElements));
  if (elementCount(view.shape) == 0)
    return {};
  __int128 low = view.offset, high = view.offset;
  for (size_t i = 0; i < view.shape.size(); ++i)
    (view.strides[i] < 0 ? low : high) += static_cast<__int128>(view.shape[i] - 1) * view.strides[i];
  return expect(low >= 0 && high < buffer.bytes / size,
                "a view from element {} on that leaves its buffer of {} bytes", view.offset, buffer.bytes);
}

Status PlanLimits::reads(const View &view) const {
  TORCHERE_TRY(lies(view));
  const Buffer &buffer = plan.buffers[view.buffer];
  bool isLost = buffer.home == Home::Argument && isGone[buffer.index];
  log.add(view.buffer, /*isWrite=*/false);
  return expect(!isLost, "a value that steps only pack: got argument {}", buffer.index);
}

static Status checkType(const View &view, DType type) {
  return expect(elementTypeInfo(view.type).dtype == type, "elements: got {}, expected {}",
                elementTypeInfo(view.type).name, dtypeInfo(type).shortName);
}

static Status checkDense(const View &view, int64_t count) {
  TORCHERE_TRY(expect(isDense(view), "a view with gaps where a dense one is expected"));
  return expectEqual("elements", elementCount(view.shape), count);
}

Status PlanLimits::reads(const View &view, DType type) const {
  TORCHERE_TRY(checkType(view, type));
  return reads(view);
}

Status PlanLimits::readsDense(const View &view, DType type, int64_t count) const {
  TORCHERE_TRY(reads(view, type));
  return checkDense(view, count);
}

Status PlanLimits::readsInteger(const View &view) const {
  TORCHERE_TRY(expect(isInteger(view.type) || isBool(view.type), "an integer: got {}",
                      elementTypeInfo(view.type).name));
  TORCHERE_TRY(reads(view));
  return expectEqual<int64_t>("elements", elementCount(view.shape), 1);
}

Status PlanLimits::writes(const View &view) const {
  TORCHERE_TRY(lies(view));
  const Buffer &buffer = plan.buffers[view.buffer];
  log.add(view.buffer, /*isWrite=*/true);
  TORCHERE_TRY(expect(buffer.home != Home::Constant, "a constant that is written"));
  TORCHERE_TRY(expect(buffer.home != Home::Argument || plan.writtenArguments[buffer.index],
                      "an argument that is written: got {}, which the plan does not write", buffer.index));
  return expect(elementCount(view.shape) <= buffer.bytes / view.elementSize(),
                "a view that is written has more elements than its buffer: got {}", elementCount(view.shape));
}

Status PlanLimits::writes(const View &view, DType type) const {
  TORCHERE_TRY(checkType(view, type));
  return writes(view);
}

Status PlanLimits::writesDense(const View &view, DType type, int64_t count) const {
  TORCHERE_TRY(writes(view, type));
  return checkDense(view, count);
}

Status PlanLimits::swaps(const View &one, const View &other) const {
  for (const View *view : {&one, &other}) {
    TORCHERE_TRY(writes(*view));
    const Buffer &buffer = plan.buffers[view->buffer];
    bool isWhole = isDense(*view) && view->offset == 0 &&
                   elementCount(view->shape) * view->elementSize() == buffer.bytes;
    TORCHERE_TRY(expect(isWhole, "values that change places: a view that is not its whole buffer"));
    bool hasParts = std::any_of(plan.buffers.begin(), plan.buffers.end(), [&](const Buffer &part) {
      return part.home == Home::Part && part.index == view->buffer;
    });
    TORCHERE_TRY(expect(!hasParts, "values that change places: a buffer with parts"));
  }
  TORCHERE_TRY(expect(one.buffer != other.buffer, "values that change places: one buffer"));
  return expectEqual("bytes of values that change places", plan.buffers[other.buffer].bytes,
                     plan.buffers[one.buffer].bytes);
}

Status PlanLimits::packs(const View &view, DType type, std::optional<size_t> argument,
                         bool isConstant) const {
  TORCHERE_TRY(checkType(view, type));
  TORCHERE_TRY(lies(view));
  log.add(view.buffer, /*isWrite=*/false);
  const Buffer &buffer = plan.buffers[view.buffer];
  std::optional<size_t> own;
  if (buffer.home == Home::Argument)
    own = buffer.index;
  TORCHERE_TRY(expect(argument == own, "weights that are packed of another argument than they lie in"));
  return expect(isConstant == (buffer.home == Home::Constant), "weights: a constant, or none");
}

std::span<const AccessLog::Access> AccessLog::of(const Step *step) const {
  auto found = ranges.find(step);
  if (found == ranges.end())
    return {};
  auto [first, last] = found->second;
  return std::span(accesses).subspan(first, last - first);
}

void AccessLog::clear() {
  accesses.clear();
  ranges.clear();
}

namespace {

/// Bytes of the arena; a result; or the arguments, which may be one memory.
struct Extent {
  Home home = Home::Arena;
  size_t index = 0;
  int64_t begin = 0, end = 0;
  auto operator<=>(const Extent &) const = default;
};

Extent extentOf(const Plan &plan, BufferId id) {
  const Buffer &buffer = plan.buffers[id];
  switch (buffer.home) {
  case Home::Part: {
    int64_t begin = plan.buffers[buffer.index].offset + buffer.offset;
    return {Home::Arena, 0, begin, begin + buffer.bytes};
  }
  case Home::Arena:
    return {Home::Arena, 0, buffer.offset, buffer.offset + buffer.bytes};
  case Home::Argument:
    return {Home::Argument, 0, 0, 1};
  case Home::Result:
  case Home::Constant:
    break;
  }
  return {buffer.home, buffer.index, 0, 1};
}

/// In order, and none of them overlaps the next one.
std::vector<Extent> extentsOf(const Plan &plan, std::span<const AccessLog::Access> accesses,
                              bool writesAlone) {
  std::vector<Extent> extents;
  for (const AccessLog::Access &access : accesses)
    if (access.isWrite || !writesAlone)
      extents.push_back(extentOf(plan, access.buffer));
  std::sort(extents.begin(), extents.end());
  std::vector<Extent> joined;
  for (const Extent &extent : extents) {
    bool isNext = joined.empty() || joined.back().home != extent.home ||
                  joined.back().index != extent.index || joined.back().end <= extent.begin;
    if (isNext)
      joined.push_back(extent);
    else
      joined.back().end = std::max(joined.back().end, extent.end);
  }
  return joined;
}

bool overlap(const std::vector<Extent> &one, const std::vector<Extent> &other) {
  for (size_t i = 0, j = 0; i < one.size() && j < other.size();) {
    auto memory = [](const Extent &extent) { return std::pair(extent.home, extent.index); };
    bool isSame = memory(one[i]) == memory(other[j]);
    if (isSame && one[i].begin < other[j].end && other[j].begin < one[i].end)
      return true;
    bool isFirst = isSame ? one[i].end <= other[j].begin : memory(one[i]) < memory(other[j]);
    isFirst ? ++i : ++j;
  }
  return false;
}

} // namespace

Status PlanLimits::areApart(const Steps &steps) const {
  std::vector<std::vector<Extent>> written, all;
  for (const std::unique_ptr<const Step> &step : steps) {
    written.push_back(extentsOf(plan, log.of(step.get()), /*writesAlone=*/true));
    all.push_back(extentsOf(plan, log.of(step.get()), /*writesAlone=*/false));
  }
  for (size_t i = 0; i < steps.size(); ++i)
    for (size_t j = 0; j < steps.size(); ++j)
      TORCHERE_TRY(expect(i == j || !overlap(written[i], all[j]),
                          "steps that run at the same time: step {} writes what step {} touches", i, j));
  return {};
}

static Status verifyBuffer(const Plan &plan, const Buffer &buffer) {
  TORCHERE_TRY(expectWithin("bytes of a buffer", {buffer.bytes}, 0, mostElements));
  switch (buffer.home) {
  case Home::Arena:
    TORCHERE_TRY(expectWithin("offset of a buffer", {buffer.offset}, 0, plan.arenaBytes));
    TORCHERE_TRY(expect(buffer.offset % memoryAlignment == 0,
                        "offset of a buffer: got {}, expected a multiple "
                        "of {}",
                        buffer.offset, memoryAlignment));
    return expect(buffer.bytes <= plan.arenaBytes - buffer.offset, "a buffer that leaves the arena");
  case Home::Argument:
    return expect(buffer.index < plan.writtenArguments.size(), "a buffer of argument {}: expected one of {}",
                  buffer.index, plan.writtenArguments.size());
  case Home::Result:
    return expect(buffer.index < plan.results.size() && &plan.buffers[plan.results[buffer.index]] == &buffer,
                  "a buffer of result {}, which is another one", buffer.index);
  case Home::Constant:
    return expect(buffer.index < plan.constants.size(), "a buffer of constant {}: expected one of {}",
                  buffer.index, plan.constants.size());
  case Home::Part:
    TORCHERE_TRY(expect(buffer.index < plan.buffers.size() && plan.buffers[buffer.index].home == Home::Arena,
                        "a part of buffer {}, which is not in the arena", buffer.index));
    TORCHERE_TRY(expectWithin("offset of a part", {buffer.offset}, 0, plan.buffers[buffer.index].bytes));
    return expect(buffer.bytes <= plan.buffers[buffer.index].bytes - buffer.offset,
                  "a part that leaves what it is a part of");
  }
  return {};
}

Status verifyBuffers(const Plan &plan) {
  TORCHERE_TRY(expectWithin("bytes of the arena", {plan.arenaBytes}, 0, mostElements));
  for (BufferId id : plan.results)
    TORCHERE_TRY(expect(id < plan.buffers.size(), "the buffer of a result: got {}, expected one of {}", id,
                        plan.buffers.size()));
  for (const Buffer &buffer : plan.buffers)
    TORCHERE_TRY(verifyBuffer(plan, buffer));
  return {};
}

} // namespace torchere::cpu
