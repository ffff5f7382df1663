// Implements SliceStep.
#include "cpu/execute/slice_step.h"

#include "cpu/plan/limits.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace torchere::cpu {

template <class T> static int64_t load(const std::byte *memory) {
  T value;
  std::memcpy(&value, memory, sizeof value);
  return static_cast<int64_t>(value);
}

static int64_t wordIn(const std::byte *memory, ElementType type) {
  bool hasNoSign = isUnsigned(type) || isBool(type);
  switch (elementTypeInfo(type).bytes()) {
  case 1:
    return hasNoSign ? load<uint8_t>(memory) : load<int8_t>(memory);
  case 2:
    return hasNoSign ? load<uint16_t>(memory) : load<int16_t>(memory);
  case 4:
    return hasNoSign ? load<uint32_t>(memory) : load<int32_t>(memory);
  }
  return load<int64_t>(memory);
}

int64_t wordAt(const Frame &frame, const View &scalar) {
  return wordIn(frame.at(scalar), scalar.type);
}

int64_t integerAt(const std::byte *memory, ElementType type) {
  int64_t value = wordIn(memory, type);
  return isUnsigned(type) && value < 0 ? std::numeric_limits<int64_t>::max() : value;
}

int64_t integerAt(const Frame &frame, const View &scalar) {
  return integerAt(frame.at(scalar), scalar.type);
}

void SliceStep::derive() {
  bool reads = direction == Direction::Read;
  copy = StridedCopy(part.shape, part.elementSize(), reads ? whole.strides : part.strides,
                     reads ? part.strides : whole.strides);
}

bool SliceStep::isContiguous() const {
  const Sizes dense = rowMajorStrides(part.shape);
  bool isSame = isDense(part);
  for (size_t i = 0; i < dense.size(); ++i)
    isSame &= part.shape[i] == 1 || whole.strides[i] == dense[i];
  return isSame;
}

std::byte *SliceStep::placeOf(const Frame &frame) const {
  int64_t offset = whole.offset;
  for (size_t i = 0; i < starts.size(); ++i) {
    int64_t start = std::clamp<int64_t>(integerAt(frame, starts[i]), 0, whole.shape[i] - part.shape[i]);
    offset += start * whole.strides[i];
  }
  return frame.memory[whole.buffer] + offset * whole.elementSize();
}

Status SliceStep::run(const Frame &frame) const {
  std::byte *place = placeOf(frame);
  if (direction == Direction::Read)
    copy.run(frame.context, place, frame.at(part));
  else
    copy.run(frame.context, frame.at(part), place);
  return {};
}

Status SliceStep::restore(const PlanLimits &limits) {
  bool isRead = direction == Direction::Read;
  TORCHERE_TRY(isRead ? limits.reads(whole) : limits.writes(whole));
  TORCHERE_TRY(isRead ? limits.writes(part) : limits.reads(part));
  TORCHERE_TRY(expectEqual("bytes of an element", part.elementSize(), whole.elementSize()));
  TORCHERE_TRY(expectEqual("dimensions", part.shape.size(), whole.shape.size()));
  TORCHERE_TRY(expectEqual("dimensions", starts.size(), whole.shape.size()));
  for (size_t i = 0; i < starts.size(); ++i) {
    TORCHERE_TRY(limits.readsInteger(starts[i]));
    TORCHERE_TRY(expect(part.shape[i] <= whole.shape[i], "sizes of a slice: got {}, expected at most {}",
                        part.shape[i], whole.shape[i]));
  }
  derive();
  return {};
}

} // namespace torchere::cpu
