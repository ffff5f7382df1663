// Kernels of custom calls, through the plugin's FFI extension.
#include "runtime/kernel.h"

#include "pjrt/ffi_extension.h"
#include "runtime/client.h"
#include "runtime/plugin.h"

#include <dlfcn.h>

namespace torchere::runtime {

/// Null where the plugin has none that can register.
static const pjrt::FfiExtension *ffiOf(const pjrt::Api &api) {
  constexpr size_t needed =
      offsetof(pjrt::FfiExtension, registerHandler) + sizeof(pjrt::FfiExtension::registerHandler);
  for (const pjrt::Extension *link = api.extensions; link; link = link->next)
    if (link->type == pjrt::ExtensionType::Ffi && link->structSize >= needed) {
      const auto *ffi = reinterpret_cast<const pjrt::FfiExtension *>(link);
      return ffi->registerHandler ? ffi : nullptr;
    }
  return nullptr;
}

static Result<void *> symbolOf(const Kernel &kernel) {
  std::error_code missing;
  std::filesystem::path path = std::filesystem::canonical(kernel.library, missing);
  if (missing) // never searched for by its name alone
    return fail(ErrorCode::NotFound, "[{}] no such library: expected the path of a file",
                kernel.library.string());
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return invalidArgument("[{}] not a library: {}", path.string(), dlerror());
  void *symbol = dlsym(library, kernel.symbol.c_str());
  if (!symbol)
    return fail(ErrorCode::NotFound, "[{}] no such function: got '{}'", path.string(), kernel.symbol);
  return symbol;
}

/// XLA's names of platforms, for those that PJRT has others for.
static std::string platformOf(const std::string &client) {
  return client == "cpu" ? "Host" : client == "cuda" ? "CUDA" : client == "rocm" ? "ROCM" : client;
}

Status registerKernel(const Client &client, const Kernel &kernel) {
  const Plugin &plugin = client.plugin();
  const pjrt::FfiExtension *ffi = ffiOf(plugin.api());
  if (!ffi)
    return fail(ErrorCode::Unimplemented,
                "[{}] the plugin cannot run kernels of others: it lacks PJRT's FFI extension, which "
                "registers '{}'",
                plugin.path(), kernel.target);
  TORCHERE_ASSIGN(void *handler, symbolOf(kernel));
  std::string platform =
      kernel.platform.empty() ? platformOf(std::string(client.platformName())) : kernel.platform;
  pjrt::FfiRegisterHandlerArgs args;
  args.targetName = kernel.target.data();
  args.targetNameSize = kernel.target.size();
  args.handler = handler;
  args.platformName = platform.data();
  args.platformNameSize = platform.size();
  pjrt::Error *error = ffi->registerHandler(&args);
  return error ? plugin.takeError(error, plugin.path(), "cannot register kernel '" + kernel.target + "'")
               : Status();
}

} // namespace torchere::runtime
