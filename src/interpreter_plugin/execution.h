// Execution: one run of a program on arrays, by the client's worker.
#pragma once

#include "interpreter_plugin/buffer.h"
#include "interpreter_plugin/compiled_program.h"

namespace torchere::interpreter_plugin {

/// By process: a replica's partitions, then the next replica's.
struct Execution {
  std::shared_ptr<const CompiledProgram> program;
  std::vector<std::vector<std::shared_ptr<Array>>> arguments;
  /// Of the arguments, which the program may write over: nobody else has them.
  std::vector<std::vector<bool>> isDonated;
  std::vector<std::vector<std::shared_ptr<Array>>> results;
  /// Set after the results, when all are there or none will be.
  std::shared_ptr<pjrt::Completion> complete = std::make_shared<pjrt::Completion>();

  /// Runs the program and makes the results ready, or ends them all in the error.
  void run();

private:
  Status compute();
  Status deliver(std::vector<std::vector<interpreter::Tensor>> tensors);
};

} // namespace torchere::interpreter_plugin
