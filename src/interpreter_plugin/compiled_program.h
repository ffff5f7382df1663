// CompiledProgram: a program as the interpreter runs it, and its description for callers.
#pragma once

#include "interpreter/entry_point.h"
#include "pjrt/compile_options.h"
#include "pjrt/types.h"

#include <memory>
#include <string>
#include <vector>

namespace torchere::interpreter_plugin {

class CompiledProgram {
public:
  /// `code` is StableHLO, as text or as a portable artifact; `options` is a CompileOptionsProto. Errors are
  /// those of the readers and of describeEntry(), and Unimplemented for a program that has yet to be
  /// partitioned.
  static Result<std::shared_ptr<const CompiledProgram>> compile(std::string_view code,
                                                                std::string_view options);
  /// Parses the result of serialize(). InvalidArgument for anything else.
  static Result<std::shared_ptr<const CompiledProgram>> deserialize(std::string_view bytes);
  /// The program and its options, unchanged.
  std::string serialize() const;

  const std::string &code() const { return programCode; }
  const pjrt::CompileOptions &options() const { return compileOptions; }
  const interpreter::EntryPoint &entry() const { return entryPoint; }
  const stablehlo::Module &module() const { return parsed; }
  /// Equal for equal programs and options.
  const std::string &fingerprint() const { return digest; }
  size_t processCount() const {
    return static_cast<size_t>(compileOptions.replicaCount * compileOptions.partitionCount);
  }

  // The results' description in the form that the ABI needs.
  const std::vector<pjrt::BufferType> &resultTypes() const { return types; }
  /// The dimensions of all results, concatenated.
  const std::vector<int64_t> &resultDimensions() const { return dimensions; }
  const std::vector<size_t> &resultRanks() const { return ranks; }
  const std::vector<const char *> &resultMemoryKinds() const { return memoryKinds; }
  const std::vector<size_t> &resultMemoryKindSizes() const { return memoryKindSizes; }

  CompiledProgram(const CompiledProgram &) = delete;

private:
  CompiledProgram(std::string_view code, std::string_view options, stablehlo::Module module)
      : programCode(code), serializedOptions(options), parsed(std::move(module)) {}
  Status describe();

  std::string programCode, serializedOptions;
  stablehlo::Module parsed; ///< run by one thread at a time
  pjrt::CompileOptions compileOptions;
  interpreter::EntryPoint entryPoint;
  std::string digest;
  std::vector<pjrt::BufferType> types;
  std::vector<int64_t> dimensions;
  std::vector<size_t> ranks;
  std::vector<const char *> memoryKinds;
  std::vector<size_t> memoryKindSizes;
};

} // namespace torchere::interpreter_plugin
