// Implements CompiledProgram: reading, checks, and the serialized form.
#include "pjrt_server/compiled_program.h"

#include "base/digest.h"
#include "pjrt/element_type.h"
#include "pjrt_server/client.h"

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

Status CompiledProgram::describe() {
  const interpreter::EntryPoint &entryPoint = entry();
  if (compileOptions.partitionCount > 1 && entryPoint.isSharded)
    return fail(ErrorCode::Unimplemented,
                "[{}] a program with shardings for {} partitions: expected one that is partitioned already",
                entryPoint.name, compileOptions.partitionCount);
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
    TORCHERE_ASSIGN(compiled, engine.compile(programCode, compileOptions, clientOptions));
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
