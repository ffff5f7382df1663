// ExchangeStep: the processes of a group read parts of each other's tensors.
#pragma once

#include "cpu/plan/plan.h"

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

class ExchangeStep final : public Step {
public:
  explicit ExchangeStep(Exchange exchange) : exchange(std::move(exchange)) {}
  Status run(const Frame &frame) const final;

private:
  Exchange exchange;
};

} // namespace torchere::cpu
