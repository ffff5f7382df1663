// The memory of weights: that of a fake tensor has a size, but no data.
#pragma once

#include "program/program.h"

#include <tuple>
#include <utility>
#include <vector>

namespace torchere::program {

/// Whether the weight's elements are there. A weight of a fake tensor is a type alone: its storage's data is
/// null, and Weight::data() must not be asked for.
inline bool hasData(const Weight &weight) {
  return weight.storage && (weight.storage->data || weight.elementCount() == 0);
}

/// Identifies a storage, with data or without.
inline const void *memoryOf(const Storage &storage) {
  return storage.data ? static_cast<const void *>(storage.data) : &storage;
}

/// Identifies the place of the weight's first element, with data or without.
inline std::pair<const void *, int64_t> placeOf(const Weight &weight) {
  if (weight.storage->data)
    return {weight.data(), 0};
  return {weight.storage.get(), weight.storageOffset};
}

/// Tied weights have equal views; those without elements may have one place without being tied.
using View = std::tuple<std::pair<const void *, int64_t>, DType, std::vector<int64_t>, std::vector<int64_t>>;

inline View viewOf(const Weight &weight) {
  return {placeOf(weight), weight.dtype, weight.shape, weight.strides};
}

} // namespace torchere::program
