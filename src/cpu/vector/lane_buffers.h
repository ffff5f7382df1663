// What folds and scatters by a vector program share: elements collected into lanes.
#pragma once

#include "base/dtype.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace torchere::cpu {

/// Captures of a region, repeated for each lane.
class CaptureLanes {
public:
  CaptureLanes(const std::vector<const void *> &captures, const std::vector<DType> &types, int64_t lanes) {
    for (size_t i = 0; i < captures.size(); ++i) {
      auto size = static_cast<size_t>(byteSize(types[i])), count = static_cast<size_t>(lanes);
      buffers_.emplace_back(count * size);
      for (size_t lane = 0; lane < count; ++lane)
        std::memcpy(buffers_.back().data() + lane * size, captures[i], size);
    }
  }
  size_t count() const { return buffers_.size(); }
  const void *at(size_t index) const { return buffers_[index].data(); }

private:
  std::vector<std::vector<char>> buffers_;
};

} // namespace torchere::cpu
