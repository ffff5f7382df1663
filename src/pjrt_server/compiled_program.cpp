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
  std::shared_ptr<CompiledProgram> program(new CompiledProgram(engine, code, options));
  TORCHERE_ASSIGN(program->compileOptions, pjrt::CompileOptions::parse(options));
  TORCHERE_ASSIGN(program->compiled, engine.compile(code, program->compileOptions, clientOptions));
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

/// A stored program is the engine's line, the size of the options in eight bytes, the options, and the
/// program.
std::string CompiledProgram::serialize() const {
  std::string bytes(engine.stored);
  uint64_t size = serializedOptions.size();
  bytes.append(reinterpret_cast<const char *>(&size), sizeof size);
  return bytes + serializedOptions + programCode;
}

Result<std::shared_ptr<const CompiledProgram>>
CompiledProgram::deserialize(const Engine &engine, const ClientOptions &clientOptions,
                             std::string_view bytes) {
  uint64_t size = 0;
  if (!bytes.starts_with(engine.stored) || bytes.size() < engine.stored.size() + sizeof size)
    return invalidArgument("no stored executable of this {}", engine.platform);
  bytes.remove_prefix(engine.stored.size());
  std::memcpy(&size, bytes.data(), sizeof size);
  bytes.remove_prefix(sizeof size);
  if (size > bytes.size())
    return invalidArgument("a stored executable that was cut off: got {} bytes of options, expected {}",
                           bytes.size(), size);
  return compile(engine, clientOptions, bytes.substr(size), bytes.substr(0, size));
}

} // namespace torchere::pjrt_server
