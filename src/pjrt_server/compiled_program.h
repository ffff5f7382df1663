// CompiledProgram: an engine's program, and its description for callers.
#pragma once

#include "pjrt/types.h"
#include "pjrt_server/program.h"

#include <atomic>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace torchere::pjrt_server {

class CompiledProgram {
public:
  /// `code` is StableHLO, as text or as a portable artifact; `options` is a CompileOptionsProto. Errors are
  /// the engine's, and Unimplemented for a program that has yet to be partitioned.
  static Result<std::shared_ptr<const CompiledProgram>> compile(const Engine &engine,
                                                                const ClientOptions &clientOptions,
                                                                std::string_view code,
                                                                std::string_view options);
  /// Reads the result of serialize(), with `options` in place of the stored ones if they are given. Compiles
  /// again only where the engine has stored nothing that it can load. InvalidArgument for anything else.
  static Result<std::shared_ptr<const CompiledProgram>>
  deserialize(const Engine &engine, const ClientOptions &clientOptions, std::string_view bytes,
              std::optional<std::string_view> options = {});
  /// The program and its options, unchanged, and what the engine stores of it.
  std::string serialize() const;

  const std::string &code() const { return programCode; }
  const pjrt::CompileOptions &options() const { return compileOptions; }
  const interpreter::EntryPoint &entry() const { return compiled->entry(); }
  const Program &program() const { return *compiled; }
  /// Equal for equal programs and options.
  const std::string &fingerprint() const { return digest; }
  size_t processCount() const {
    return static_cast<size_t>(compileOptions.replicaCount * compileOptions.partitionCount);
  }

  /// What its last run took, from when its arguments were there, in nanoseconds; at first more than any run.
  std::atomic<int64_t> &lastDuration() const { return duration; }

  // The results' description in the form that the ABI needs.
  const std::vector<pjrt::BufferType> &resultTypes() const { return types; }
  /// The dimensions of all results, concatenated.
  const std::vector<int64_t> &resultDimensions() const { return dimensions; }
  const std::vector<size_t> &resultRanks() const { return ranks; }
  const std::vector<const char *> &resultMemoryKinds() const { return memoryKinds; }
  const std::vector<size_t> &resultMemoryKindSizes() const { return memoryKindSizes; }

  CompiledProgram(const CompiledProgram &) = delete;

private:
  CompiledProgram(const Engine &engine, std::string_view code, std::string_view options)
      : engine(engine), programCode(code), serializedOptions(options) {}
  /// `stored`: what the engine stored of it, or empty.
  static Result<std::shared_ptr<const CompiledProgram>> make(const Engine &engine,
                                                             const ClientOptions &clientOptions,
                                                             std::string_view code, std::string_view options,
                                                             std::string_view stored);
  Status load(const ClientOptions &clientOptions, std::string_view stored);
  Status describe();

  const Engine &engine;
  std::string programCode, serializedOptions;
  pjrt::CompileOptions compileOptions;
  std::unique_ptr<const Program> compiled;
  std::string digest;
  mutable std::atomic<int64_t> duration = std::numeric_limits<int64_t>::max();
  std::vector<pjrt::BufferType> types;
  std::vector<int64_t> dimensions;
  std::vector<size_t> ranks;
  std::vector<const char *> memoryKinds;
  std::vector<size_t> memoryKindSizes;
};

} // namespace torchere::pjrt_server
