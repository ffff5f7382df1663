// Implements CompiledProgram: reading, checks, and the serialized form.
#include "pjrt_server/compiled_program.h"

#include "base/digest.h"
#include "pjrt/element_type.h"
#include "pjrt_server/client.h"

#include <fmt/ranges.h>

#include <cstring>

namespace torchere::pjrt_server {

Result<std::shared_ptr<const CompiledProgram>> CompiledProgram::compile(const Engine &engine,
                                                                        const ClientOptions &clientOptions,
                                                                        std::string_view code,
                                                                        std::string_view options) {
  return make(engine, clientOptions, code, options, {});
}

Result<std::shared_ptr<const CompiledProgram>>
CompiledProgram::make(const Engine &engine, const ClientOptions &clientOptions, std::string_view code,
                      std::string_view options, std::string_view stored) {
  std::shared_ptr<CompiledProgram> program(new CompiledProgram(engine, code, options));
  TORCHERE_ASSIGN(program->compileOptions, pjrt::CompileOptions::parse(options));
  TORCHERE_TRY(program->load(clientOptions, stored));
  TORCHERE_TRY(program->describe());
  return std::shared_ptr<const CompiledProgram>(std::move(program));
}

static Result<pjrt::BufferType> checkBufferType(ElementType type) {
  if (std::optional<pjrt::BufferType> found = pjrt::bufferTypeOf(type))
    return *found;
  return fail(ErrorCode::Unimplemented, "PJRT has no element type {}", elementTypeInfo(type).name);
}

/// `what` is what the program holds.
static torchere::Error notPartitioned(std::string_view name, std::string_view what,
                                      const pjrt::CompileOptions &options) {
  std::string devices;
  if (!options.deviceIds.empty())
    devices = fmt::format(" on devices {}", fmt::join(options.deviceIds, ", "));
  return {ErrorCode::Unimplemented,
          fmt::format("[{}] a program with {} for {} partitions{}: expected one device, or a program that is "
                      "partitioned already",
                      name, what, options.partitionCount, devices),
          {}};
}

Status CompiledProgram::describe() {
  const interpreter::EntryPoint &entryPoint = entry();
  if (compileOptions.partitionCount > 1 && entryPoint.isSharded)
    return tl::unexpected(notPartitioned(entryPoint.name, "shardings", compileOptions));
  for (const interpreter::EntryArgument &argument : entryPoint.arguments)
    TORCHERE_TRY(checkBufferType(argument.type.elementType));
  for (const TensorType &result : entryPoint.results) {
    TORCHERE_ASSIGN(pjrt::BufferType type, checkBufferType(result.elementType));
    types.push_back(type);
    dimensions.insert(dimensions.end(), result.shape.begin(), result.shape.end());
    ranks.push_back(result.shape.size());
  }
  memoryKinds.assign(types.size(), memoryKind.data());
  memoryKindSizes.assign(types.size(), memoryKind.size());
  digest = hexText(Digest().addField(serializedOptions).addField(programCode).finish());
  return {};
}

/// A stored program is the engine's line, then the options, what the engine stores, and the program, each
/// with its size in eight bytes before it.
std::string CompiledProgram::serialize() const {
  std::string bytes(engine.stored), loadable = compiled->stored();
  bytes.reserve(bytes.size() + serializedOptions.size() + programCode.size() + loadable.size() + 3 * 8);
  for (const std::string *part :
       std::initializer_list<const std::string *>{&serializedOptions, &loadable, &programCode}) {
    uint64_t size = part->size();
    bytes.append(reinterpret_cast<const char *>(&size), sizeof size);
    bytes += *part;
  }
  return bytes;
}

/// Takes the next part off the bytes.
static Result<std::string_view> takePart(std::string_view &bytes, std::string_view what) {
  uint64_t size = 0;
  bool hasSize = bytes.size() >= sizeof size;
  if (hasSize) {
    std::memcpy(&size, bytes.data(), sizeof size);
    bytes.remove_prefix(sizeof size);
  }
  if (!hasSize || size > bytes.size())
    return invalidArgument("a stored executable that was cut off: got {} bytes of {}, expected {}",
                           bytes.size(), what, hasSize ? size : sizeof size);
  std::string_view part = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return part;
}

Status CompiledProgram::load(const ClientOptions &clientOptions, std::string_view stored) {
  if (!stored.empty() && engine.load) {
    TORCHERE_ASSIGN(compiled, engine.load(stored, programCode, compileOptions, clientOptions));
  }
  if (!compiled) {
    Result<std::unique_ptr<const Program>> made = engine.compile(programCode, compileOptions, clientOptions);
    // An op of Shardy's, such as JAX's shard_map, which is not StableHLO's.
    if (!made && compileOptions.partitionCount > 1 && made.error().message.find(" sdy.") != std::string::npos)
      return tl::unexpected(notPartitioned("program", "Shardy's ops (shard_map)", compileOptions));
    TORCHERE_ASSIGN(compiled, std::move(made));
  }
  return {};
}

Result<std::shared_ptr<const CompiledProgram>>
CompiledProgram::deserialize(const Engine &engine, const ClientOptions &clientOptions, std::string_view bytes,
                             std::optional<std::string_view> given) {
  if (!bytes.starts_with(engine.stored))
    return invalidArgument("no stored executable of this {}", engine.platform);
  bytes.remove_prefix(engine.stored.size());
  TORCHERE_ASSIGN(std::string_view options, takePart(bytes, "options"));
  TORCHERE_ASSIGN(std::string_view stored, takePart(bytes, "a plan"));
  TORCHERE_ASSIGN(std::string_view code, takePart(bytes, "a program"));
  if (!bytes.empty())
    return invalidArgument("a stored executable with {} bytes behind its end", bytes.size());
  return make(engine, clientOptions, code, given.value_or(options), stored);
}

} // namespace torchere::pjrt_server
