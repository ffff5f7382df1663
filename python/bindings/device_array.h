// torchere.DeviceArray: a result of a call, where the device has it.
#pragma once

#include "bindings/bindings.h"
#include "session/tensor_view.h"

namespace torchere::bindings {

struct DeviceArray {
  session::DeviceTensor tensor;
};

/// The array that a Python object is; null for others.
DeviceArray *asDeviceArray(nb::handle object);

void bindDeviceArray(nb::module_ &module);

} // namespace torchere::bindings
