// libtorchere_interpreter.so: the interpreter under the name by which PJRT's clients look for a plugin.
#include "interpreter_plugin/api.h"

extern "C" __attribute__((visibility("default"))) const torchere::pjrt::Api *GetPjrtApi() {
  return torchere::interpreter_plugin::api();
}
