// What relay_plugin.cpp finds in the program that links this.
#include "interpreter_plugin/api.h"

extern "C" __attribute__((visibility("default"))) const torchere::pjrt::Api *relayedPjrtApi() {
  return torchere::interpreter_plugin::api();
}
