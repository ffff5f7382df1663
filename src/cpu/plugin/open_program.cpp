// Implements OpenProgram.
#include "cpu/plugin/open_program.h"

#include "base/log.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace torchere::cpu {

using pjrt_server::ArgumentLists;
using pjrt_server::ResultLists;

/// Processes run one program, so they have the same sizes.
Result<BoundSizes> OpenProgram::sizesOf(const ArgumentLists &arguments) const {
  BoundSizes sizes;
  for (size_t process = 0; process < arguments.size(); ++process) {
    std::vector<const interpreter::Tensor *> tensors;
    for (const pjrt_server::Argument &argument : arguments[process])
      tensors.push_back(&argument.tensor);
    BoundSizes own = module.sizesOf(tensors);
    if (process > 0 && own != sizes)
      return invalidArgument("[{}] process {} has other sizes than process 0: got {}, expected {}",
                             entry().name, process, fmt::join(own, ", "), fmt::join(sizes, ", "));
    sizes = std::move(own);
  }
  return sizes;
}

std::shared_ptr<const pjrt_server::Program> OpenProgram::find(const BoundSizes &sizes) const {
  std::lock_guard lock(mutex);
  auto found = programs.find(sizes);
  if (found == programs.end())
    return nullptr;
  found->second.usedAt = ++uses;
  return found->second.program;
}

Result<std::shared_ptr<const pjrt_server::Program>> OpenProgram::plan(const BoundSizes &sizes) const {
  std::lock_guard guard(planning);
  if (std::shared_ptr<const pjrt_server::Program> found = find(sizes)) // another thread has planned it
    return found;
  TORCHERE_LOG_LINE(Debug, "cpu", "[{}] plans for the sizes {}", entry().name, fmt::join(sizes, ", "));
  std::shared_ptr<const pjrt_server::Program> program;
  {
    std::unique_lock held = module.lock();
    TORCHERE_ASSIGN(program, compileProgram([&](ModuleUse use) { return module.bind(sizes, use); },
                                            module.compiledFor(), context, family));
  }
  std::shared_ptr<const pjrt_server::Program> evicted; // destroyed outside the lock
  std::lock_guard lock(mutex);
  if (programs.size() == maxPlans) {
    auto isOlder = [](const auto &a, const auto &b) { return a.second.usedAt < b.second.usedAt; };
    auto oldest = std::min_element(programs.begin(), programs.end(), isOlder);
    evicted = std::move(oldest->second.program);
    programs.erase(oldest);
  }
  programs[sizes] = {program, ++uses};
  return program;
}

Result<std::shared_ptr<const pjrt_server::Program>>
OpenProgram::planFor(const ArgumentLists &arguments) const {
  TORCHERE_ASSIGN(BoundSizes sizes, sizesOf(arguments));
  if (std::shared_ptr<const pjrt_server::Program> found = find(sizes))
    return found;
  return plan(sizes);
}

Result<ResultLists> OpenProgram::run(const ArgumentLists &arguments) const {
  TORCHERE_ASSIGN(std::shared_ptr<const pjrt_server::Program> program, planFor(arguments));
  return program->run(arguments);
}

Result<ResultLists> OpenProgram::profile(const ArgumentLists &arguments, std::string &report) const {
  TORCHERE_ASSIGN(std::shared_ptr<const pjrt_server::Program> program, planFor(arguments));
  return program->profile(arguments, report);
}

} // namespace torchere::cpu
