// OpenProgram: a program with open sizes, and its plans for the most recently used ones.
#pragma once

#include "cpu/frontend/open_module.h"
#include "cpu/plugin/parallel_program.h"

#include <map>

namespace torchere::cpu {

class OpenProgram final : public pjrt_server::Program {
public:
  OpenProgram(OpenModule module, const Context &context,
              std::shared_ptr<PlanFamily> family = std::make_shared<PlanFamily>())
      : module(std::move(module)), context(context), family(std::move(family)) {}

  const interpreter::EntryPoint &entry() const final { return module.entry(); }
  Result<pjrt_server::ResultLists> run(const pjrt_server::ArgumentLists &arguments) const final;
  Result<pjrt_server::ResultLists> profile(const pjrt_server::ArgumentLists &arguments,
                                           std::string &report) const final;

  /// How many plans are kept.
  static constexpr size_t maxPlans = 64;

private:
  struct Entry {
    std::shared_ptr<const pjrt_server::Program> program;
    uint64_t usedAt = 0; ///< a running number
  };
  Result<BoundSizes> sizesOf(const pjrt_server::ArgumentLists &arguments) const;
  Result<std::shared_ptr<const pjrt_server::Program>>
  planFor(const pjrt_server::ArgumentLists &arguments) const;
  std::shared_ptr<const pjrt_server::Program> find(const BoundSizes &sizes) const;
  Result<std::shared_ptr<const pjrt_server::Program>> plan(const BoundSizes &sizes) const;

  OpenModule module;
  Context context;
  std::shared_ptr<PlanFamily> family;
  mutable std::mutex planning; ///< one thread plans at a time; held without the other one
  mutable std::mutex mutex;    ///< of what follows
  mutable std::map<BoundSizes, Entry> programs;
  mutable uint64_t uses = 0;
};

} // namespace torchere::cpu
