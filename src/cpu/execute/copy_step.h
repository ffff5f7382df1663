// CopyStep: elements copied between any two views of one shape.
#pragma once

#include "cpu/plan/plan.h"

namespace torchere::cpu {

class CopyStep final : public Step {
public:
  CopyStep(const View &from, const View &to) : from(from), to(to) {}
  Status run(const Frame &frame) const final;

private:
  View from, to;
};

} // namespace torchere::cpu
