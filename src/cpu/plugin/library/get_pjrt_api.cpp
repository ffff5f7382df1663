// libtorchere_cpu.so: exports the engine under the name that PJRT clients look up.
#include "cpu/plugin/api.h"

extern "C" __attribute__((visibility("default"))) const torchere::pjrt::Api *GetPjrtApi() {
  return torchere::cpu::api();
}
