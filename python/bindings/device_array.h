// torchere.DeviceArray: a result of a call that stays on the device.
#pragma once

#include "bindings/bindings.h"
#include "session/tensor_view.h"

namespace torchere::bindings {

struct DeviceArray {
  session::DeviceTensor tensor;
};

/// The array behind a Python object; null for objects of other types.
DeviceArray *asDeviceArray(nb::handle object);

void bindDeviceArray(nb::module_ &module);

} // namespace torchere::bindings
