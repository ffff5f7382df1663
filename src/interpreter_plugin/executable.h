// LoadedExecutable: a compiled program and its devices.
#pragma once

#include "interpreter_plugin/client.h"
#include "interpreter_plugin/compiled_program.h"

#include <atomic>

namespace torchere::interpreter_plugin {

struct LoadedExecutable {
  std::shared_ptr<Client> client;
  std::shared_ptr<const CompiledProgram> program;
  std::vector<Device *> devices; ///< one for each process of the program
  std::vector<pjrt::Device *> deviceHandles;
  std::atomic<bool> isDeleted = false;
};

/// The functions for compilation, executables and executions.
void fillExecutable(pjrt::Api &api);

} // namespace torchere::interpreter_plugin
