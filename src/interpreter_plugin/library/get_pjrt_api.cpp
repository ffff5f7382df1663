// libtorchere_interpreter.so: exports the interpreter under the name that PJRT clients look up.
#include "interpreter_plugin/api.h"

extern "C" __attribute__((visibility("default"))) const torchere::pjrt::Api *GetPjrtApi() {
  return torchere::interpreter_plugin::api();
}
