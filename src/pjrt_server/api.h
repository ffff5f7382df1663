// The table of PJRT's functions for an engine.
#pragma once

#include "pjrt_server/client.h"

namespace torchere::pjrt_server {

/// All functions of the table but the one that creates a client.
pjrt::Api makeServer();

template <const Engine &engine> Status createClient(pjrt::ClientCreateArgs &args) {
  return Client::create(engine, args);
}

/// The engine's function table. The client option `device_count` (default 1) sets the number of devices.
template <const Engine &engine> const pjrt::Api *apiOf() {
  static const pjrt::Api table = [] {
    pjrt::Api api = makeServer();
    TORCHERE_PJRT_FILL(api, clientCreate, createClient<engine>);
    return api;
  }();
  return &table;
}

} // namespace torchere::pjrt_server
