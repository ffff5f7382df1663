// The table of PJRT's functions for an engine.
#pragma once

#include "pjrt_server/client.h"
#include "pjrt_server/execute.h"
#include "pjrt_server/ffi_extension.h"

namespace torchere::pjrt_server {

/// All functions of the table but those that depend on the engine.
pjrt::Api makeServer();

template <const Engine &engine> Status createClient(pjrt::ClientCreateArgs &args) {
  return Client::create(engine, args);
}

template <const Engine &engine> Status pluginAttributes(pjrt::PluginAttributesArgs &args) {
  return attributesOf(engine, args);
}

/// The engine's function table. The client option `device_count` (default 1) sets the number of devices.
template <const Engine &engine> const pjrt::Api *apiOf() {
  static const pjrt::Api table = [] {
    pjrt::Api api = makeServer();
    TORCHERE_PJRT_FILL(api, clientCreate, createClient<engine>);
    TORCHERE_PJRT_FILL(api, pluginAttributes, pluginAttributes<engine>);
    api.extensions = ffiExtension();
    if constexpr (engine.hasProfiles)
      api.extensions = profileExtension(api.extensions);
    return api;
  }();
  return &table;
}

} // namespace torchere::pjrt_server
