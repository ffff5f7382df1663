// The device of tensors that are made on "xla" without an index.
#pragma once

#include <c10/core/Device.h>

namespace torchere::lazy {

/// Of this thread. Set by torch's device guards and by torch.xla.set_device().
c10::DeviceIndex currentDevice();
void setCurrentDevice(c10::DeviceIndex index);

} // namespace torchere::lazy
