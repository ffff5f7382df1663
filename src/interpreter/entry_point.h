// EntryPoint: what the function takes and gives that a program begins with, for those who run it as a plugin
// does.
#pragma once

#include "interpreter/interpreter.h"

#include <optional>

namespace torchere::interpreter {

struct TensorType {
  ElementType elementType = ElementType::Bool;
  Index shape;

  bool operator==(const TensorType &) const = default;
  /// "tensor<2x3xf32>".
  TORCHERE_EXPORT std::string text() const;
  /// ResourceExhausted when the number does not fit 63 bits.
  TORCHERE_EXPORT Result<int64_t> byteSize() const;
};

struct EntryArgument {
  TensorType type;
  bool isDonated = false; ///< the program may take its memory (jax.buffer_donor, tf.aliasing_output)
  std::optional<size_t> aliasingResult; ///< the result that takes its memory (tf.aliasing_output)
};

struct EntryPoint {
  std::string name;
  std::vector<EntryArgument> arguments;
  std::vector<TensorType> results;
  bool isSharded = false; ///< something in the module says how it is to be spread over partitions
};

/// Of `main`, or of the module's only function. Unimplemented when an argument or a result is no tensor, or
/// of a size that the types leave open; InvalidArgument for an alias of a result that is not there or of
/// another type.
TORCHERE_EXPORT Result<EntryPoint> describeEntry(const stablehlo::Module &module);

/// How many processes run the program, each on a device of its own.
struct ProcessCounts {
  int64_t replicas = 1;
  int64_t partitions = 1;
};

/// Runs the entry in every process, with the process's own inputs: by replica, then by partition, as are the
/// results. Errors are those of interpret(); one of a process is that of all.
TORCHERE_EXPORT Result<std::vector<std::vector<Tensor>>>
interpretProcesses(const stablehlo::Module &module, ProcessCounts counts,
                   std::vector<std::vector<Tensor>> inputs);

} // namespace torchere::interpreter
