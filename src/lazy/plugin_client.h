// The client of the plugin that the device computes with.
#pragma once

#include "runtime/client.h"
#include "runtime/discovery.h"

#include <c10/core/Device.h>

#include <memory>
#include <vector>

namespace torchere::lazy {

/// Plugins of installed packages, which the first use of the device finds besides those that the core knows.
void addPlugins(std::vector<runtime::PluginLocation> others);

/// The client that the environment chooses, as runtime::sharedClient() does; made at the first use. Errors:
/// those of runtime::sharedClient(), and FailedPrecondition in a process that was forked after the first use.
Result<std::shared_ptr<runtime::Client>> pluginClient();
/// The same if it was made, else null.
std::shared_ptr<runtime::Client> madeClient();

/// Device `index` of that client. NotFound if it has no such device.
Result<const runtime::Device *> pluginDevice(c10::DeviceIndex index);

} // namespace torchere::lazy
