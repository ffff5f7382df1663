// What torch needs of a device besides its kernels: the guard and the hooks.
#include "lazy/current_device.h"
#include "lazy/generator.h"

#include <ATen/detail/XLAHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace torchere::lazy {

static thread_local c10::DeviceIndex currentIndex = 0;

c10::DeviceIndex currentDevice() {
  return currentIndex;
}

void setCurrentDevice(c10::DeviceIndex index) {
  currentIndex = index;
}

namespace {

/// Work is ordered by the graph alone, so there is one stream, and events do nothing.
struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return c10::DeviceType::XLA; }
  c10::Device exchangeDevice(c10::Device device) const override {
    c10::Device old = getDevice();
    setDevice(device);
    return old;
  }
  c10::Device getDevice() const override { return {c10::DeviceType::XLA, currentIndex}; }
  void setDevice(c10::Device device) const override { uncheckedSetDevice(device); }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    currentIndex = device.index() < 0 ? 0 : device.index();
  }
  c10::Stream getStream(c10::Device device) const override {
    return c10::Stream(c10::Stream::DEFAULT, device);
  }
  c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }
  c10::DeviceIndex deviceCount() const noexcept override { return Device::count(); }
  void record(void **, const c10::Stream &, c10::DeviceIndex, c10::EventFlag) const override {}
  void block(void *, const c10::Stream &) const override {}
  bool queryEvent(void *) const override { return true; }
  void destroyEvent(void *, c10::DeviceIndex) const noexcept override {}
};
C10_REGISTER_GUARD_IMPL(XLA, Guard)

struct Hooks final : at::XLAHooksInterface {
  /// Older releases of torch give an argument that says nothing.
  template <class... Ignored> explicit Hooks(Ignored...) {}
  void init() const override {}
  bool hasXLA() const override { return true; }
  std::string showConfig() const override { return "torchere"; }
  c10::DeviceIndex deviceCount() const override { return Device::count(); }
  c10::DeviceIndex getCurrentDevice() const override { return currentIndex; }
  const at::Generator &getDefaultGenerator(c10::DeviceIndex index) const override {
    return Generator::defaultOf(index < 0 ? currentIndex : index);
  }
  at::Generator getNewGenerator(c10::DeviceIndex index) const override {
    return at::make_generator<Generator>(index < 0 ? currentIndex : index);
  }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
};
using at::RegistererXLAHooksRegistry;
using at::XLAHooksRegistry;
// torch asks for the hooks under this name.
C10_REGISTER_CLASS(XLAHooksRegistry, torch_xla::detail::XLAHooks, Hooks)

} // namespace

} // namespace torchere::lazy
