// The mapping between the ABI's opaque handles and the plugin's types. The handles are never defined, because
// other plugins in the process have types of their own behind them.
#pragma once

#include "pjrt_server/client.h"

namespace torchere::pjrt_server {

struct Buffer;
struct LoadedExecutable;
class CompiledProgram;

template <class Handle> struct Held;
/// Buffers and executables hold the client as well: it may be destroyed before them.
template <> struct Held<pjrt::Client> {
  using type = std::shared_ptr<Client>;
};
template <> struct Held<pjrt::TopologyDescription> {
  using type = Client;
};
template <> struct Held<pjrt::Device> {
  using type = Device;
};
template <> struct Held<pjrt::DeviceDescription> {
  using type = Device;
};
template <> struct Held<pjrt::Memory> {
  using type = Memory;
};
template <> struct Held<pjrt::Buffer> {
  using type = Buffer;
};
template <> struct Held<pjrt::LoadedExecutable> {
  using type = LoadedExecutable;
};
template <> struct Held<pjrt::Executable> {
  using type = std::shared_ptr<const CompiledProgram>;
};

template <class Handle> typename Held<Handle>::type &held(Handle *handle) {
  return *reinterpret_cast<typename Held<Handle>::type *>(handle);
}
template <class Handle> const typename Held<Handle>::type &held(const Handle *handle) {
  return *reinterpret_cast<const typename Held<Handle>::type *>(handle);
}
template <class Handle> Handle *handleOf(typename Held<Handle>::type *object) {
  return reinterpret_cast<Handle *>(object);
}

} // namespace torchere::pjrt_server
