// Implements the plugin's function table.
#include "interpreter_plugin/api.h"

#include "interpreter_plugin/buffer.h"
#include "interpreter_plugin/client.h"
#include "interpreter_plugin/executable.h"
#include "interpreter_plugin/execute.h"

namespace torchere::interpreter_plugin {

const pjrt::Api *api() {
  static const pjrt::Api table = [] {
    pjrt::Api api = pjrt::makeTable();
    fillClient(api);
    fillBuffer(api);
    fillExecutable(api);
    fillExecute(api);
    return api;
  }();
  return &table;
}

} // namespace torchere::interpreter_plugin
