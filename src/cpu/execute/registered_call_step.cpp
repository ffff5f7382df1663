// Implements RegisteredCallStep.
#include "cpu/execute/registered_call_step.h"

namespace torchere::cpu {

Status RegisteredCallStep::run(const Frame &frame) const {
  auto argumentsOf = [&](const std::vector<Operand> &from) {
    std::vector<ffi::Argument> arguments;
    for (const Operand &operand : from)
      arguments.push_back({operand.view.type, operand.shape, frame.at(operand.view)});
    return arguments;
  };
  ffi::RunPlace place{frame.context.pool.threads(), static_cast<int32_t>(process)};
  Status status = site->run(argumentsOf(operands), argumentsOf(results), place);
  if (!status && status.error().where.empty())
    status.error().where = source;
  return status;
}

} // namespace torchere::cpu
