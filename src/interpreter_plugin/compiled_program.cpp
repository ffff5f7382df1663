// Implements CompiledProgram: reading, checks, and the serialized form.
#include "interpreter_plugin/compiled_program.h"

#include "base/digest.h"
#include "interpreter_plugin/client.h"
#include "pjrt/element_type.h"
#include "vhlo/portable_artifact.h"

#include <cstring>

namespace torchere::interpreter_plugin {

/// A serialized program is this line, the size of the options in eight bytes, the options, and the program.
static constexpr std::string_view storedBeginning = "torchere interpreter executable 1\n";

static Result<stablehlo::Module> readModule(std::string_view code) {
  return vhlo::isArtifact(code) ? vhlo::deserialize(code, "program")
                                : interpreter::parseModule(code, "program");
}

Result<std::shared_ptr<const CompiledProgram>> CompiledProgram::compile(std::string_view code,
                                                                        std::string_view options) {
  TORCHERE_ASSIGN(stablehlo::Module module, readModule(code));
  std::shared_ptr<CompiledProgram> program(new CompiledProgram(code, options, std::move(module)));
  TORCHERE_TRY(program->describe());
  return std::shared_ptr<const CompiledProgram>(std::move(program));
}

static Result<pjrt::BufferType> checkBufferType(ElementType type) {
  if (std::optional<pjrt::BufferType> found = pjrt::bufferTypeOf(type))
    return *found;
  return fail(ErrorCode::Unimplemented, "PJRT has no element type {}", elementTypeInfo(type).name);
}

Status CompiledProgram::describe() {
  TORCHERE_ASSIGN(compileOptions, pjrt::CompileOptions::parse(serializedOptions));
  TORCHERE_ASSIGN(entryPoint, interpreter::describeEntry(parsed));
  if (compileOptions.partitionCount > 1 && entryPoint.isSharded)
    return fail(ErrorCode::Unimplemented,
                "[{}] a program with shardings for {} partitions: expected one that is partitioned already",
                entryPoint.name, compileOptions.partitionCount);
  for (const interpreter::EntryArgument &argument : entryPoint.arguments)
    TORCHERE_TRY(checkBufferType(argument.type.elementType));
  for (const interpreter::TensorType &result : entryPoint.results) {
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

std::string CompiledProgram::serialize() const {
  std::string bytes(storedBeginning);
  uint64_t size = serializedOptions.size();
  bytes.append(reinterpret_cast<const char *>(&size), sizeof size);
  return bytes + serializedOptions + programCode;
}

Result<std::shared_ptr<const CompiledProgram>> CompiledProgram::deserialize(std::string_view bytes) {
  uint64_t size = 0;
  if (!bytes.starts_with(storedBeginning) || bytes.size() < storedBeginning.size() + sizeof size)
    return invalidArgument("no stored executable of this interpreter");
  bytes.remove_prefix(storedBeginning.size());
  std::memcpy(&size, bytes.data(), sizeof size);
  bytes.remove_prefix(sizeof size);
  if (size > bytes.size())
    return invalidArgument("a stored executable that was cut off: got {} bytes of options, expected {}",
                           bytes.size(), size);
  return compile(bytes.substr(size), bytes.substr(0, size));
}

} // namespace torchere::interpreter_plugin
