// npy: numpy's array file (format versions 1.0, 2.0 and 3.0), its header read from bytes and written.
#pragma once

#include "base/dtype.h"
#include "base/error.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace torchere {

struct NpyHeader {
  std::string descr; ///< the type as numpy writes it: "<f4", "|V2"
  bool fortranOrder = false;
  std::vector<int64_t> shape;
  size_t itemSize = 0;     ///< bytes
  size_t elementCount = 0; ///< product of the shape; 1 for a scalar
  size_t dataOffset = 0;   ///< of the first element in the file, in bytes

  size_t dataSize() const { return elementCount * itemSize; }
};

/// Reads the header of a whole .npy file and checks that exactly its elements follow. `subject` (the file)
/// starts the errors. Structured types, Python objects, strings, dates and big-endian numbers are refused.
TORCHERE_EXPORT Result<NpyHeader> parseNpyHeader(std::span<const std::byte> file, std::string_view subject);

/// A version 1.0 header (2.0 when the shape is very long), padded so that the data after it starts at a
/// multiple of 64 bytes.
TORCHERE_EXPORT std::string makeNpyHeader(DType dtype, std::span<const int64_t> shape);

/// The dtype of `descr`. numpy cannot name bfloat16, complex32 and the float8 types: their files hold raw
/// bytes ("|V2"), and `named` has to say what they are. Fails when `named` and `descr` disagree.
TORCHERE_EXPORT Result<DType> dtypeFromDescr(std::string_view descr, std::optional<DType> named,
                                             std::string_view subject);

/// The strides, in elements, of an array without gaps.
TORCHERE_EXPORT std::vector<int64_t> denseStrides(std::span<const int64_t> shape, bool fortranOrder);

} // namespace torchere
