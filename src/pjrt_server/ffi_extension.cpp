// Implements PJRT's FFI extension with the registry of kernels.
#include "pjrt_server/ffi_extension.h"

#include "ffi/api_table.h"
#include "ffi/registry.h"
#include "pjrt/ffi_extension.h"
#include "pjrt/own_extensions.h"
#include "pjrt/plugin_table.h"

#include <algorithm>
#include <array>

namespace torchere::pjrt {
/// Older callers have no information of a type.
template <>
inline constexpr size_t requiredSize<FfiTypeRegisterArgs> =
    offsetof(FfiTypeRegisterArgs, id) + sizeof(FfiTypeRegisterArgs::id);
} // namespace torchere::pjrt

namespace torchere::pjrt_server {

namespace {

using pjrt::FfiRegisterHandlerArgs;
using pjrt::FfiTypeRegisterArgs;
using pjrt::FfiUserDataAddArgs;

/// What those who write kernels for processors call the platform. An empty name means the plugin's own.
constexpr std::array<std::string_view, 5> platforms = {"", "torchere_cpu", "interpreter", "Host", "cpu"};

Status registerHandler(FfiRegisterHandlerArgs &args) {
  std::string_view target(args.targetName, args.targetNameSize);
  std::string_view platform(args.platformName, args.platformNameSize);
  if (std::ranges::find(platforms, platform) == platforms.end())
    return invalidArgument("[{}] a kernel for another platform: got '{}', expected 'Host'", target, platform);
  ffi::abi::HandlerBundle kernel;
  kernel.execute = reinterpret_cast<ffi::abi::Handler *>(args.handler);
  return ffi::Registry::instance().addKernel(target, kernel);
}

Status registerType(FfiTypeRegisterArgs &args) {
  bool hasInfo = args.structSize >= FfiTypeRegisterArgs{}.structSize;
  auto *deleter = hasInfo && args.info ? args.info->deleter : nullptr;
  TORCHERE_ASSIGN(
      args.id, ffi::Registry::instance().addType({args.name, args.nameSize}, hasInfo ? args.id : 0, deleter));
  return {};
}

Status addUserData(FfiUserDataAddArgs &) {
  return fail(ErrorCode::Unimplemented, "executions have no user data for kernels");
}

/// A function of the extension.
template <auto implementation> struct Entry;
template <class Args, Status (*implementation)(Args &)> struct Entry<implementation> {
  static pjrt::Error *call(Args *args) noexcept {
    Status status = guarded([args]() -> Status {
      TORCHERE_TRY(pjrt::checkStructure(args));
      return implementation(*args);
    });
    return status ? nullptr : pjrt::makeError(status.error(), "ffi");
  }
};

} // namespace

pjrt::Extension *ffiExtension() {
  static pjrt::FfiTableExtension table = {{sizeof table, pjrt::ffiTableExtensionType, nullptr},
                                          &ffi::apiTable()};
  static pjrt::FfiExtension extension = {{sizeof extension, pjrt::ExtensionType::Ffi, &table.base},
                                         Entry<registerType>::call,
                                         Entry<addUserData>::call,
                                         Entry<registerHandler>::call};
  return &extension.base;
}

} // namespace torchere::pjrt_server
