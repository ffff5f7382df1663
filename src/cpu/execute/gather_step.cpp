// Implements GatherStep.
#include "cpu/execute/gather_step.h"

#include "cpu/execute/slice_step.h"

#include <algorithm>
#include <cstring>

namespace torchere::cpu {

Status GatherStep::run(const Frame &frame) const {
  auto rowBytes = static_cast<size_t>(elementCount(std::span(rows.shape).subspan(1)) * rows.elementSize());
  int64_t count = elementCount(indices.shape);
  View index = indices;
  index.shape.clear();
  for (int64_t i = 0; i < count; ++i, ++index.offset) {
    auto row = static_cast<size_t>(std::clamp<int64_t>(integerAt(frame, index), 0, rows.shape[0] - 1));
    if (rowBytes)
      std::memcpy(frame.at(result) + static_cast<size_t>(i) * rowBytes, frame.at(rows) + row * rowBytes,
                  rowBytes);
  }
  return {};
}

} // namespace torchere::cpu
