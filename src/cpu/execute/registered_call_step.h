// RegisteredCallStep: a custom call of a kernel that the user registered.
#pragma once

#include "cpu/plan/plan.h"
#include "ffi/call_site.h"

namespace torchere::cpu {

class RegisteredCallStep final : public Step {
public:
  /// A dense view, and the shape that the kernel sees.
  struct Operand {
    View view;
    Sizes shape;
  };
  RegisteredCallStep(std::unique_ptr<const ffi::CallSite> site, std::vector<Operand> operands,
                     std::vector<Operand> results, int64_t process, std::string source)
      : site(std::move(site)), operands(std::move(operands)), results(std::move(results)), process(process),
        source(std::move(source)) {}
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return site->target(); }

private:
  std::unique_ptr<const ffi::CallSite> site;
  std::vector<Operand> operands, results;
  int64_t process; ///< of the program, whose plan this is
  std::string source;
};

} // namespace torchere::cpu
