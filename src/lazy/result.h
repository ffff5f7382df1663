// valueOf: errors of the core become exceptions of torch, at the edge of the device.
#pragma once

#include "base/error.h"

#include <c10/util/Exception.h>

namespace torchere::lazy {

template <class T> T valueOf(Result<T> result) {
  TORCH_CHECK(result.has_value(), result.error().text());
  return *std::move(result);
}

} // namespace torchere::lazy
