// Implements SliceStep.
#include "cpu/execute/slice_step.h"

#include "cpu/execute/strided_copy.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace torchere::cpu {

template <class T> static int64_t load(const std::byte *memory) {
  T value;
  std::memcpy(&value, memory, sizeof value);
  return static_cast<int64_t>(value);
}

int64_t integerAt(const Frame &frame, const View &scalar) {
  const std::byte *memory = frame.at(scalar);
  bool hasNoSign = isUnsigned(scalar.type) || isBool(scalar.type);
  switch (scalar.elementSize()) {
  case 1:
    return hasNoSign ? load<uint8_t>(memory) : load<int8_t>(memory);
  case 2:
    return hasNoSign ? load<uint16_t>(memory) : load<int16_t>(memory);
  case 4:
    return hasNoSign ? load<uint32_t>(memory) : load<int32_t>(memory);
  }
  int64_t value = load<int64_t>(memory);
  return hasNoSign && value < 0 ? std::numeric_limits<int64_t>::max() : value;
}

Status SliceStep::run(const Frame &frame) const {
  View place = whole;
  for (size_t i = 0; i < starts.size(); ++i) {
    int64_t start = std::clamp<int64_t>(integerAt(frame, starts[i]), 0, whole.shape[i] - part.shape[i]);
    place.offset += start * whole.strides[i];
  }
  const View &from = direction == Direction::Read ? place : part;
  const View &to = direction == Direction::Read ? part : place;
  copyElements(frame.context, part.shape, part.elementSize(), frame.at(from), from.strides, frame.at(to),
               to.strides);
  return {};
}

} // namespace torchere::cpu
