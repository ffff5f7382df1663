// Execution: one run of a program on arrays, on the client's worker.
#pragma once

#include "pjrt_server/buffer.h"
#include "pjrt_server/compiled_program.h"

namespace torchere::pjrt_server {

/// Lists are by process: a replica's partitions, then the next replica's.
struct Execution {
  std::shared_ptr<const CompiledProgram> program;
  std::vector<std::vector<ArrayUse>> arguments;
  /// By argument, in each process: those that no buffer has any more. The program may overwrite them, unless
  /// others still read them.
  std::vector<bool> isDonated;
  std::vector<std::vector<std::shared_ptr<Array>>> results;
  /// Where the run's profile goes; null for none.
  std::string *report = nullptr;
  /// Set last, when all results are ready or have failed.
  std::shared_ptr<pjrt::Completion> complete = std::make_shared<pjrt::Completion>();

  /// Whether the program's last run took less than it costs to hand a run to another thread, and no argument
  /// has to be waited for.
  bool isShort() const;
  /// Runs the program and makes the results ready, or fails all of them with the error.
  void run();

private:
  Status compute();
  Status deliver(const ArgumentLists &inputs, ResultLists tensors);
};

} // namespace torchere::pjrt_server
