// The extension by which kernels of custom calls, and the types of what they keep, are registered with a
// plugin.
#pragma once

#include "pjrt/types.h"

namespace torchere::pjrt {

/// What is known of a type of objects that kernels keep. Longer in newer versions.
struct FfiTypeInfo {
  void (*deleter)(void *object);
};

struct FfiTypeRegisterArgs {
  TORCHERE_PJRT_HEADER(FfiTypeRegisterArgs, info);
  const char *name = nullptr;
  size_t nameSize = 0;
  int64_t id = 0; ///< in and out; 0 asks for a new one. Where the structure ends here, only out
  const FfiTypeInfo *info = nullptr;
};

struct FfiUserDataAddArgs {
  TORCHERE_PJRT_HEADER(FfiUserDataAddArgs, deleter);
  ExecuteContext *context = nullptr;
  int64_t typeId = 0;
  void *data = nullptr;
  void (*deleter)(void *data) = nullptr;
};

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
  pjrt::Error *(*registerType)(FfiTypeRegisterArgs *);
  pjrt::Error *(*addUserData)(FfiUserDataAddArgs *);
  pjrt::Error *(*registerHandler)(FfiRegisterHandlerArgs *);
};

} // namespace torchere::pjrt
