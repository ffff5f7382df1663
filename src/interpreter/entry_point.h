// EntryPoint: the inputs and outputs of a program's entry function, for callers that run programs as a plugin
// does.
#pragma once

#include "interpreter/interpreter.h"

#include <optional>

namespace torchere::interpreter {

/// A size that each call binds, of an argument, or that is known only once a result is computed.
inline constexpr int64_t unknownSize = -1;

struct TensorType {
  ElementType elementType = ElementType::Bool;
  Index shape;

  bool operator==(const TensorType &) const = default;
  TORCHERE_EXPORT bool isStatic() const;
  /// "tensor<2x?xf32>".
  TORCHERE_EXPORT std::string text() const;
  /// ResourceExhausted if the number does not fit in 63 bits.
  TORCHERE_EXPORT Result<int64_t> byteSize() const;
};

struct EntryArgument {
  TensorType type;
  bool isDonated = false; ///< the program may reuse its memory (jax.buffer_donor, tf.aliasing_output)
  std::optional<size_t> aliasingResult; ///< the result that reuses its memory (tf.aliasing_output)
  bool isInShapes = false;              ///< an integer that sizes depend on (torchere.in_shapes)
};

/// Whether arguments may have sizes that each call binds.
enum class OpenSizes : bool { Refused, Allowed };

struct EntryPoint {
  std::string name;
  std::vector<EntryArgument> arguments;
  std::vector<TensorType> results; ///< sizes that depend on data are unknownSize
  bool isSharded = false;          ///< whether the module contains shardings for partitions

  /// Whether types depend on a call's arguments.
  TORCHERE_EXPORT bool isOpen() const;
};

/// Describes `main`, or the module's only function. Unimplemented if an argument is not a tensor of static
/// shape, unless open sizes are allowed, or a result is no tensor; InvalidArgument if an alias names a result
/// that does not exist or has another type.
TORCHERE_EXPORT Result<EntryPoint> describeEntry(const stablehlo::Module &module,
                                                 OpenSizes openSizes = OpenSizes::Refused);

/// How many processes run the program, each on its own device.
struct ProcessCounts {
  int64_t replicas = 1;
  int64_t partitions = 1;
};

/// Runs the entry function in every process, with that process's inputs. Inputs and results are ordered by
/// replica, then by partition. Errors are those of interpret(); if one process fails, the call fails.
TORCHERE_EXPORT Result<std::vector<std::vector<Tensor>>>
interpretProcesses(const stablehlo::Module &module, ProcessCounts counts,
                   std::vector<std::vector<Tensor>> inputs);

} // namespace torchere::interpreter
