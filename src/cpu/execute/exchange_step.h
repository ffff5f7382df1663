// ExchangeStep: the processes of a group read parts of each other's tensors.
#pragma once

#include "cpu/execute/strided_copy.h"
#include "cpu/plan/plan.h"

#include <tuple>

namespace torchere::cpu {

struct Exchange {
  int64_t number = 0;           ///< of the op; the same in all processes
  std::vector<int64_t> members; ///< processes, in the group's order
  int64_t self = 0;             ///< this process
  std::vector<size_t> taken;    ///< the members whose parts the results are, by their places
  View given;                   ///< dense; all members have tensors of its type
  View part;                    ///< of `given`, as each other member's is taken
  View result;                  ///< dense: the parts, one after the other
};

class ExchangeStep final : public StoredStep<ExchangeStep> {
public:
  explicit ExchangeStep(Exchange given);
  ExchangeStep() = default;
  static auto fields(auto &step) { return std::tie(step.exchange); }
  Status restore(const PlanLimits &limits);
  /// FailedPrecondition in a program of one process.
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "exchange"; }

private:
  Exchange exchange;
  StridedCopy copy;
};

} // namespace torchere::cpu
