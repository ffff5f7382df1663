// Implements OpenProgram.
#include "cpu/plugin/open_program.h"

#include "base/log.h"
#include "cpu/kernels/float_environment.h"
#include "cpu/plugin/stored_entry.h"
#include "cpu/plugin/stored_program.h"
#include "cpu/plugin/thread_clock.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace torchere::cpu {

using pjrt_server::ArgumentLists;
using pjrt_server::ResultLists;

OpenProgram::OpenProgram(OpenModule given, const Context &context, std::shared_ptr<PlanFamily> family)
    : entryPoint(given.entry()), source{{}, given.compiledFor(), context, std::move(family)},
      module(std::move(given)) {}

OpenProgram::OpenProgram(interpreter::EntryPoint entry, std::vector<SizedPlan> plans, ProgramSource given)
    : entryPoint(std::move(entry)), source(std::move(given)), storedPlans(std::move(plans)) {
  source.family->sharesStored();
}

/// Processes run one program, so they have the same sizes.
Result<BoundSizes> OpenProgram::sizesOf(const ArgumentLists &arguments) const {
  BoundSizes sizes;
  for (size_t process = 0; process < arguments.size(); ++process) {
    std::vector<const interpreter::Tensor *> tensors;
    for (const pjrt_server::Argument &argument : arguments[process])
      tensors.push_back(argument.tensor);
    BoundSizes own = boundSizesOf(entryPoint, tensors);
    if (process > 0 && own != sizes)
      return invalidArgument("[{}] process {} has other sizes than process 0: got {}, expected {}",
                             entry().name, process, fmt::join(own, ", "), fmt::join(sizes, ", "));
    sizes = std::move(own);
  }
  return sizes;
}

OpenProgram::Plan OpenProgram::find(const BoundSizes &sizes) const {
  std::lock_guard lock(mutex);
  auto found = programs.find(sizes);
  if (found == programs.end())
    return nullptr;
  found->second.usedAt = ++uses;
  return found->second.program;
}

/// As a plan for these sizes has it; sizes of results that are open are those of `found`.
static interpreter::EntryPoint boundEntry(interpreter::EntryPoint entry, const BoundSizes &sizes,
                                          const interpreter::EntryPoint &found) {
  std::vector<passes::ArgumentShape> shapes = boundShapesOf(entry, sizes);
  for (size_t index = 0; index < shapes.size(); ++index)
    entry.arguments[index].type.shape = shapes[index].sizes;
  for (size_t index = 0; index < std::min(entry.results.size(), found.results.size()); ++index) {
    interpreter::Index &shape = entry.results[index].shape;
    const interpreter::Index &known = found.results[index].shape;
    for (size_t i = 0; i < std::min(shape.size(), known.size()); ++i)
      if (shape[i] == interpreter::unknownSize)
        shape[i] = known[i];
  }
  return entry;
}

OpenProgram::Plan OpenProgram::takeStored(const BoundSizes &sizes) const {
  SizedPlan taken;
  {
    std::lock_guard lock(mutex);
    auto found = std::ranges::find(storedPlans, sizes, &SizedPlan::sizes);
    if (found == storedPlans.end())
      return nullptr;
    taken = std::move(*found);
    storedPlans.erase(found);
  }
  Result<std::unique_ptr<const pjrt_server::Program>> loaded = loadProgram(taken.stored, source);
  if (loaded && *loaded && !areAlike((*loaded)->entry(), boundEntry(entryPoint, sizes, (*loaded)->entry())))
    loaded = invalidArgument("[plan] it has other arguments or results");
  if (loaded)
    return std::move(*loaded);
  TORCHERE_LOG_LINE(Warning, "cpu", "[{}] the stored plan for the sizes {} is not used: {}", entryPoint.name,
                    fmt::join(sizes, ", "), loaded.error().message);
  return nullptr;
}

Status OpenProgram::readCode() const {
  ThreadClock clock;
  TORCHERE_ASSIGN(stablehlo::Module read, readModule(source.code));
  TORCHERE_ASSIGN(interpreter::EntryPoint found,
                  interpreter::describeEntry(read, interpreter::OpenSizes::Allowed));
  if (!areAlike(found, entryPoint))
    return invalidArgument("[{}] the stored program has other arguments or results than its code",
                           entryPoint.name);
  module.emplace(std::move(read), std::move(found), source.target);
  TORCHERE_LOG_LINE(Debug, "cpu", "[{}] its code is read and simplified in {:.2f} ms", entryPoint.name,
                    clock.milliseconds());
  return {};
}

Result<OpenProgram::Plan> OpenProgram::compile(const BoundSizes &sizes) const {
  if (!module)
    TORCHERE_TRY(readCode());
  TORCHERE_LOG_LINE(Debug, "cpu", "[{}] plans for the sizes {}", entryPoint.name, fmt::join(sizes, ", "));
  std::unique_lock held = module->lock();
  return compileProgram([&](ModuleUse use) { return module->bind(sizes, use); }, module->compiledFor(),
                        source.context, source.family);
}

Result<OpenProgram::Plan> OpenProgram::plan(const BoundSizes &sizes) const {
  StandardFloats floats;
  std::lock_guard guard(planning);
  if (Plan found = find(sizes)) // another thread has planned it
    return found;
  Plan program = takeStored(sizes);
  if (!program) {
    TORCHERE_ASSIGN(program, compile(sizes));
  }
  keep(sizes, program);
  return program;
}

void OpenProgram::keep(const BoundSizes &sizes, Plan program) const {
  Plan evicted; // destroyed outside the lock
  std::lock_guard lock(mutex);
  if (programs.size() == maxPlans) {
    auto isOlder = [](const auto &a, const auto &b) { return a.second.usedAt < b.second.usedAt; };
    auto oldest = std::min_element(programs.begin(), programs.end(), isOlder);
    evicted = std::move(oldest->second.program);
    programs.erase(oldest);
  }
  programs[sizes] = {std::move(program), ++uses, nullptr};
}

/// Kept with the plan: a program may be stored again after further calls.
std::shared_ptr<const std::string> OpenProgram::storedOf(const BoundSizes &sizes, const Entry &entry) const {
  if (entry.stored)
    return entry.stored;
  auto made = std::make_shared<const std::string>(entry.program->stored());
  std::lock_guard lock(mutex);
  auto found = programs.find(sizes);
  if (found != programs.end() && found->second.program == entry.program)
    found->second.stored = made;
  return made;
}

std::string OpenProgram::stored() const {
  std::map<uint64_t, std::pair<BoundSizes, Entry>, std::greater<>> used; // the last one first
  std::vector<SizedPlan> unused, plans;
  {
    std::lock_guard lock(mutex);
    for (const auto &[sizes, entry] : programs)
      used[entry.usedAt] = {sizes, entry};
    unused = storedPlans;
  }
  size_t bytes = 0;
  auto add = [&](const BoundSizes &sizes, const std::string &stored) {
    bytes += stored.size();
    if (!stored.empty() && bytes <= mostStoredBytes && plans.size() < maxPlans)
      plans.push_back({sizes, stored});
  };
  for (const auto &[usedAt, entry] : used)
    add(entry.first, *storedOf(entry.first, entry.second));
  for (const SizedPlan &plan : unused)
    add(plan.sizes, plan.stored);
  return storeSizes(entryPoint, source.target.processes, plans, source.target.isa);
}

Result<OpenProgram::Plan> OpenProgram::planFor(const ArgumentLists &arguments) const {
  TORCHERE_ASSIGN(BoundSizes sizes, sizesOf(arguments));
  if (Plan found = find(sizes))
    return found;
  return plan(sizes);
}

Result<ResultLists> OpenProgram::run(const ArgumentLists &arguments) const {
  TORCHERE_ASSIGN(Plan program, planFor(arguments));
  return program->run(arguments);
}

Result<ResultLists> OpenProgram::profile(const ArgumentLists &arguments, std::string &report) const {
  TORCHERE_ASSIGN(Plan program, planFor(arguments));
  return program->profile(arguments, report);
}

} // namespace torchere::cpu
