// The call of the exporter.
#include "lazy/lowered_program.h"

#include "exporter/exporter.h"
#include "lazy/range.h"

namespace torchere::lazy {

Result<std::shared_ptr<artifact::Bundle>> lowered(const program::Program &program) {
  TORCHERE_LAZY_RANGE("lazy::lower", "LowerTime");
  TORCHERE_TRY(program.verify());
  TORCHERE_ASSIGN(exporter::Exported made, exporter::exportProgram(program));
  auto bundle = std::make_shared<artifact::Bundle>();
  artifact::Function function;
  function.entryPoint = std::move(made.entryPoint);
  function.module = std::move(made.module);
  TORCHERE_TRY(addFunction(*bundle, std::move(function), made.stateDict, made.constants));
  return bundle;
}

} // namespace torchere::lazy
