// The extension by which kernels of custom calls are registered with a plugin.
#pragma once

#include "pjrt/types.h"

namespace torchere::pjrt {

/// Has no chain of extensions, as other arguments have.
struct FfiRegisterHandlerArgs {
  size_t structSize = offsetof(FfiRegisterHandlerArgs, traits) + sizeof(FfiRegisterHandlerArgs::traits);
  const char *targetName = nullptr;
  size_t targetNameSize = 0;
  void *handler = nullptr; ///< XLA_FFI_Handler *
  const char *platformName = nullptr;
  size_t platformNameSize = 0;
  int traits = 0;
};

struct FfiExtension {
  Extension base;
  void *registerType;
  void *addUserData;
  pjrt::Error *(*registerHandler)(FfiRegisterHandlerArgs *);
};

} // namespace torchere::pjrt
