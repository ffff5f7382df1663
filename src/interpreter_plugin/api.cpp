// Implements the engine that interprets.
#include "interpreter_plugin/api.h"

#include "interpreter/entry_point.h"
#include "pjrt_server/api.h"
#include "vhlo/portable_artifact.h"

namespace torchere::interpreter_plugin {

namespace {

using pjrt_server::ArgumentLists;
using pjrt_server::ResultLists;

class InterpretedProgram final : public pjrt_server::Program {
public:
  InterpretedProgram(stablehlo::Module module, interpreter::EntryPoint entry,
                     interpreter::ProcessCounts processes)
      : module(std::move(module)), entryPoint(std::move(entry)), processes(processes) {}

  const interpreter::EntryPoint &entry() const final { return entryPoint; }

  Result<ResultLists> run(const ArgumentLists &arguments) const final {
    std::vector<std::vector<interpreter::Tensor>> inputs;
    for (const std::vector<pjrt_server::Argument> &ofProcess : arguments) {
      inputs.emplace_back();
      for (const pjrt_server::Argument &argument : ofProcess)
        inputs.back().push_back(*argument.tensor);
    }
    return interpreter::interpretProcesses(module, processes, std::move(inputs));
  }

private:
  stablehlo::Module module; ///< run by one thread at a time, which is the client's
  interpreter::EntryPoint entryPoint;
  interpreter::ProcessCounts processes;
};

Result<std::unique_ptr<const pjrt_server::Program>>
compile(std::string_view code, const pjrt::CompileOptions &options, const pjrt_server::ClientOptions &) {
  Result<stablehlo::Module> module =
      vhlo::isArtifact(code) ? vhlo::deserialize(code, "program") : interpreter::parseModule(code, "program");
  if (!module)
    return tl::unexpected(std::move(module).error());
  TORCHERE_ASSIGN(interpreter::EntryPoint entry, interpreter::describeEntry(*module));
  interpreter::ProcessCounts processes{options.replicaCount, options.partitionCount};
  return std::make_unique<const InterpretedProgram>(*std::move(module), std::move(entry), processes);
}

constexpr pjrt_server::Engine engine = [] {
  pjrt_server::Engine made;
  made.platform = "interpreter";
  made.deviceName = "Interpreter";
  made.stored = "torchere interpreter executable 2\n";
  made.compile = compile;
  return made;
}();

} // namespace

const pjrt::Api *api() {
  return pjrt_server::apiOf<engine>();
}

} // namespace torchere::interpreter_plugin
