// OpenProgram: a program with open sizes, and its plans for the most recently used ones.
#pragma once

#include "cpu/frontend/open_module.h"
#include "cpu/plugin/parallel_program.h"

#include <map>

namespace torchere::cpu {

/// A plan as it was stored.
struct SizedPlan {
  BoundSizes sizes;
  std::string stored;
};

/// What a program is compiled from, and for what.
struct ProgramSource {
  std::string_view code; ///< lasts longer than the program
  Target target;
  Context context;
  std::shared_ptr<PlanFamily> family;
};

class OpenProgram final : public pjrt_server::Program {
public:
  OpenProgram(OpenModule module, const Context &context,
              std::shared_ptr<PlanFamily> family = std::make_shared<PlanFamily>());
  /// The code is not read before a call has sizes that are not among the plans.
  OpenProgram(interpreter::EntryPoint entry, std::vector<SizedPlan> plans, ProgramSource source);

  const interpreter::EntryPoint &entry() const final { return entryPoint; }
  Result<pjrt_server::ResultLists> run(const pjrt_server::ArgumentLists &arguments) const final;
  Result<pjrt_server::ResultLists> profile(const pjrt_server::ArgumentLists &arguments,
                                           std::string &report) const final;
  /// With the plans used last, up to `mostStoredBytes` of them.
  std::string stored() const final;

  using Plan = std::shared_ptr<const pjrt_server::Program>;
  /// That for the arguments' sizes, which is made if there is none.
  Result<Plan> planFor(const pjrt_server::ArgumentLists &arguments) const;

  /// How many plans are kept.
  static constexpr size_t maxPlans = 64;
  static constexpr size_t mostStoredBytes = size_t(16) << 20;

private:
  struct Entry {
    Plan program;
    uint64_t usedAt = 0;                       ///< a running number
    std::shared_ptr<const std::string> stored; ///< once it was asked for
  };
  Result<BoundSizes> sizesOf(const pjrt_server::ArgumentLists &arguments) const;
  Plan find(const BoundSizes &sizes) const;
  Result<Plan> plan(const BoundSizes &sizes) const;
  /// What was stored for the sizes; null if nothing was, or nothing that can be used.
  Plan takeStored(const BoundSizes &sizes) const;
  /// Plans the module, which is read first if it has not been.
  Result<Plan> compile(const BoundSizes &sizes) const;
  Status readCode() const;
  void keep(const BoundSizes &sizes, Plan program) const;
  std::shared_ptr<const std::string> storedOf(const BoundSizes &sizes, const Entry &entry) const;

  interpreter::EntryPoint entryPoint;
  ProgramSource source;
  mutable std::mutex planning; ///< of what follows: one thread plans at a time; held without the other one
  mutable std::optional<OpenModule> module;
  mutable std::mutex mutex;                   ///< of what follows
  mutable std::vector<SizedPlan> storedPlans; ///< that no call has asked for yet
  mutable std::map<BoundSizes, Entry> programs;
  mutable uint64_t uses = 0;
};

} // namespace torchere::cpu
