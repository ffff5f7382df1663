// Implements StagedProgram.
#include "cpu/plugin/staged_program.h"

#include "base/log.h"
#include "cpu/plugin/profile.h"

#include <deque>

namespace torchere::cpu {

using interpreter::Tensor;
using pjrt_server::Argument;
using pjrt_server::ArgumentLists;
using pjrt_server::ResultLists;

namespace {

/// The arguments of the first stage, which overwrites none: the rest reads them as well.
ArgumentLists keptArguments(const ArgumentLists &arguments) {
  ArgumentLists kept = arguments;
  for (Argument &argument : kept.front())
    argument.mayBeOverwritten = false;
  return kept;
}

/// The arguments of the rest: the program's, and what the first stage has computed.
class RestArguments {
public:
  RestArguments(const ArgumentLists &arguments, std::vector<Tensor> computed)
      : computed(std::move(computed)), lists(arguments) {
    for (const Tensor &tensor : this->computed)
      lists.front().push_back({&tensor, false, &contents.emplace_back()});
  }
  RestArguments(const RestArguments &) = delete;
  const ArgumentLists &get() const { return lists; }

private:
  std::vector<Tensor> computed;
  std::deque<Lifetime> contents;
  ArgumentLists lists;
};

} // namespace

Result<ResultLists> StagedProgram::run(const ArgumentLists &arguments) const {
  TORCHERE_ASSIGN(ResultLists computed, first->run(keptArguments(arguments)));
  RestArguments given(arguments, std::move(computed.front()));
  Result<OpenProgram::Plan> plan = rest.planFor(given.get());
  if (plan)
    return (*plan)->run(given.get());
  TORCHERE_LOG_LINE(Info, "cpu", "[{}] is interpreted as a whole: {}", entry().name, plan.error().text());
  return whole->run(arguments);
}

Result<ResultLists> StagedProgram::profile(const ArgumentLists &arguments, std::string &report) const {
  std::string ofRest;
  TORCHERE_ASSIGN(ResultLists computed, first->profile(keptArguments(arguments), report));
  RestArguments given(arguments, std::move(computed.front()));
  TORCHERE_ASSIGN(OpenProgram::Plan plan, rest.planFor(given.get()));
  TORCHERE_ASSIGN(ResultLists results, plan->profile(given.get(), ofRest));
  report = joinReports(report, ofRest);
  return results;
}

Result<std::unique_ptr<const pjrt_server::Program>>
compileStages(const ModuleSource &read, std::unique_ptr<const CpuProgram> &whole, const Target &target,
              const Context &context, const std::shared_ptr<PlanFamily> &family) {
  constexpr int mostStages = 100;
  if (target.stage == mostStages)
    return nullptr;
  // Without calls of kernels: whatever part cannot be planned is interpreted.
  TORCHERE_ASSIGN(stablehlo::Module module, read(ModuleUse::Interpretation));
  const std::string &name = whole->entry().name;
  if (!target.isFlat && !flattenOpen(module, name))
    return nullptr;
  std::optional<StagedModule> staged = splitStages(module);
  if (!staged)
    return nullptr;
  Target flat = target;
  flat.isFlat = true;
  flat.stage = target.stage + 1;
  auto readFirst = [&](ModuleUse) -> Result<stablehlo::Module> { return staged->first.clone(); };
  TORCHERE_ASSIGN(CompiledModule first, compileModule(readFirst, flat));
  if (!first.plan)
    return nullptr;
  TORCHERE_ASSIGN(interpreter::EntryPoint open,
                  interpreter::describeEntry(staged->rest, interpreter::OpenSizes::Allowed));
  TORCHERE_LOG_LINE(Info, "cpu", "[{}] plans what depends on {} sizes when it is called", name,
                    std::ranges::count_if(open.arguments, &interpreter::EntryArgument::isInShapes));
  auto program = std::make_unique<const CpuProgram>(std::move(first), target.processes, context, family);
  program->log();
  OpenModule rest(std::move(staged->rest), std::move(open), flat);
  return std::make_unique<const StagedProgram>(std::move(whole), std::move(program), std::move(rest),
                                               context);
}

} // namespace torchere::cpu
