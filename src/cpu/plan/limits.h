// PlanLimits: what the steps of a plan that was read from somewhere may touch.
#pragma once

#include "cpu/plan/plan.h"

#include <initializer_list>
#include <optional>
#include <unordered_map>
#include <utility>

namespace torchere::cpu {

/// Sizes, and numbers of elements, are below this: sums and products of two of them do not overflow.
inline constexpr int64_t mostElements = int64_t(1) << 40;

/// The product of the sizes; -1 if one is negative or the product is not below mostElements.
int64_t boundedProduct(std::span<const int64_t> sizes);
inline int64_t boundedProduct(std::initializer_list<int64_t> sizes) {
  return boundedProduct(std::span(sizes.begin(), sizes.size()));
}

/// More than kernels of images and windows are asked for.
inline constexpr int64_t mostPixels = int64_t(1) << 24;

struct DimensionStride {
  int64_t size, stride;
};
/// Elements of the view's buffer from the view's first one on.
View strided(const View &view, const std::vector<DimensionStride> &dimensions);

/// InvalidArgument with the text unless it holds.
template <class... Args> Status expect(bool holds, fmt::format_string<Args...> text, Args &&...args) {
  if (holds)
    return {};
  return invalidArgument(text, std::forward<Args>(args)...);
}
template <class T> Status expectEqual(std::string_view what, const T &got, const T &expected) {
  return expect(got == expected, "{}: got {}, expected {}", what, got, expected);
}
Status expectShape(std::string_view what, const Sizes &got, const Sizes &expected);
/// low <= number <= high, for each of them.
Status expectWithin(std::string_view what, std::span<const int64_t> numbers, int64_t low, int64_t high);
inline Status expectWithin(std::string_view what, std::initializer_list<int64_t> numbers, int64_t low,
                           int64_t high) {
  return expectWithin(what, std::span(numbers.begin(), numbers.size()), low, high);
}

/// The buffers that steps were found to read and write.
class AccessLog {
public:
  struct Access {
    BufferId buffer = 0;
    bool isWrite = false;
  };
  void add(BufferId buffer, bool isWrite) { accesses.push_back({buffer, isWrite}); }
  size_t count() const { return accesses.size(); }
  /// All accesses from `first` on are the step's.
  void close(const Step *step, size_t first) { ranges[step] = {first, accesses.size()}; }
  std::span<const Access> of(const Step *step) const;
  void clear();

private:
  std::vector<Access> accesses;
  std::unordered_map<const Step *, std::pair<size_t, size_t>> ranges;
};

/// Errors are InvalidArgument. The checks of a view are also those of its ranks and sizes: below
/// mostElements, as is the number of its elements.
class PlanLimits {
public:
  /// `isGone`: by argument, whether nothing is left of it but what steps have packed.
  /// What reads(), writes() and packs() find goes to `log`.
  PlanLimits(const Plan &plan, Isa isa, std::vector<bool> isGone, AccessLog &log)
      : plan(plan), targetIsa(isa), isGone(std::move(isGone)), log(log) {}

  Isa isa() const { return targetIsa; }

  Status reads(const View &view) const;
  Status reads(const View &view, DType type) const;
  Status readsDense(const View &view, DType type, int64_t count) const;
  /// One integer or truth value.
  Status readsInteger(const View &view) const;
  /// Not into constants, nor into arguments that the plan does not write.
  Status writes(const View &view) const;
  Status writes(const View &view, DType type) const;
  Status writesDense(const View &view, DType type, int64_t count) const;
  /// Two buffers that change places, of which these views are all: of the same size, and without parts.
  Status swaps(const View &one, const View &other) const;
  /// Steps that the log knows: none writes memory that another one touches.
  Status areApart(const Steps &steps) const;
  /// As reads() for an operand that is kept packed: `argument` is the argument that it lies in, if it is one.
  Status packs(const View &view, DType type, std::optional<size_t> argument, bool isConstant) const;

private:
  Status lies(const View &view) const;

  const Plan &plan;
  Isa targetIsa;
  std::vector<bool> isGone;
  AccessLog &log;
};

/// Whether the buffers lie where they may: in the arena, and parts in what they are a part of.
Status verifyBuffers(const Plan &plan);

} // namespace torchere::cpu
