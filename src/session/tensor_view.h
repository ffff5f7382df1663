// TensorView: a tensor of the caller's; and what a call accepts: tensors, here or on the device, and
// constants.
#pragma once

#include "base/dtype.h"
#include "program/program.h"
#include "runtime/buffer.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <variant>

namespace torchere::session {

/// A strided view of the caller's memory. The spans and the name need only outlive the call; `owner` keeps
/// the memory alive for as long as the plugin reads it.
struct TensorView {
  const void *data = nullptr; ///< the first element
  DType dtype = DType::F32;
  std::span<const int64_t> shape;
  std::span<const int64_t> strides; ///< in elements; empty: dense and row major
  std::string_view device = "cpu";
  std::shared_ptr<const void> owner;

  /// Dense and row major; strides of dimensions of size 1 do not matter.
  TORCHERE_EXPORT bool isContiguous() const;
};

/// The same elements, dense and row major, in newly allocated memory that is aligned to 64 bytes.
/// InvalidArgument if the size in bytes does not fit in 63 bits, ResourceExhausted if there is no memory.
TORCHERE_EXPORT Result<std::shared_ptr<const void>> copyDense(const TensorView &view);

/// The view as a dense array: its own memory if it is dense, otherwise a copy.
TORCHERE_EXPORT Result<runtime::HostArray> denseArray(const TensorView &view);

/// An array on the device: the result of another call, of any program on the same client, or of
/// Session::toDevice(). It is never donated and never written.
using DeviceTensor = std::shared_ptr<const runtime::Buffer>;

/// A leaf of a call's arguments: a tensor in host memory or on the device, or a constant (None, a number, a
/// string, ...).
using Input = std::variant<TensorView, DeviceTensor, program::Constant>;

} // namespace torchere::session
