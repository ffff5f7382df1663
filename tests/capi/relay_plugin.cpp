// A plugin that is loaded by path, as users do, and is the interpreter of the program that loads it: a test
// under a sanitizer sees into it.
#include "pjrt/api.h"

#include <dlfcn.h>

extern "C" __attribute__((visibility("default"))) const torchere::pjrt::Api *GetPjrtApi() {
  using EntryPoint = const torchere::pjrt::Api *();
  auto *entryPoint = reinterpret_cast<EntryPoint *>(dlsym(RTLD_DEFAULT, "relayedPjrtApi"));
  return entryPoint ? entryPoint() : nullptr;
}
