// LoadedExecutable: a compiled program and its devices.
#pragma once

#include "pjrt_server/client.h"
#include "pjrt_server/compiled_program.h"

#include <atomic>

namespace torchere::pjrt_server {

struct LoadedExecutable {
  std::shared_ptr<Client> client;
  std::shared_ptr<const CompiledProgram> program;
  std::vector<Device *> devices; ///< one for each process of the program
  std::vector<pjrt::Device *> deviceHandles;
  std::atomic<bool> isDeleted = false;
};

/// The functions for compilation, executables and executions.
void fillExecutable(pjrt::Api &api);

} // namespace torchere::pjrt_server
