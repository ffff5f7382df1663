// Implements RegroupStep: a group is the bits of the wider element.
#include "cpu/execute/regroup_step.h"

#include "cpu/plan/limits.h"

#include <algorithm>
#include <cstring>

namespace torchere::cpu {

static constexpr int64_t groupsOfPart = 4096;

void RegroupStep::regroup(const std::byte *source, std::byte *target, int64_t begin, int64_t end) const {
  int fromBits = elementTypeInfo(from.type).bits, toBits = elementTypeInfo(to.type).bits;
  int64_t taken = std::max(toBits / fromBits, 1), made = std::max(fromBits / toBits, 1);
  auto fromSize = static_cast<size_t>(from.elementSize()), toSize = static_cast<size_t>(to.elementSize());
  uint64_t mask = toBits == 64 ? ~uint64_t(0) : (uint64_t(1) << toBits) - 1;
  for (int64_t group = begin; group < end; ++group) {
    uint64_t bits = 0;
    for (int64_t i = 0; i < taken; ++i) {
      uint64_t element = 0;
      std::memcpy(&element, source + static_cast<size_t>(group * taken + i) * fromSize, fromSize);
      bits |= element << (i * fromBits);
    }
    for (int64_t i = 0; i < made; ++i) {
      uint64_t element = bits >> (i * toBits) & mask;
      std::memcpy(target + static_cast<size_t>(group * made + i) * toSize, &element, toSize);
    }
  }
}

Status RegroupStep::run(const Frame &frame) const {
  int64_t groups = std::min(elementCount(from.shape), elementCount(to.shape));
  int64_t parts = (groups + groupsOfPart - 1) / groupsOfPart;
  frame.context.pool.parallelFor(parts, [&](int64_t part) {
    regroup(frame.at(from), frame.at(to), part * groupsOfPart, std::min(groups, (part + 1) * groupsOfPart));
  });
  return {};
}

Status RegroupStep::restore(const PlanLimits &limits) {
  int fromBits = elementTypeInfo(from.type).bits, toBits = elementTypeInfo(to.type).bits;
  int most = std::max(fromBits, toBits);
  TORCHERE_TRY(
      expect(most <= 64 && most % std::min(fromBits, toBits) == 0, "bits: got {} as {}", fromBits, toBits));
  TORCHERE_TRY(limits.reads(from));
  TORCHERE_TRY(limits.writes(to));
  TORCHERE_TRY(expect(isDense(from) && isDense(to), "bits with gaps"));
  return expectEqual("bits", elementCount(to.shape) * toBits, elementCount(from.shape) * fromBits);
}

} // namespace torchere::cpu
