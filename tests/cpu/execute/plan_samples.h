// Small plans for the tests of what is stored and read back.
#pragma once

#include "cpu/execute/stored_plan.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace torchere::cpu {

inline constexpr BufferId argument = 0, result = 1, constant = 2, scratch = 3, part = 4, index = 5;

/// A buffer of each kind, each of 64 bytes but the part of 16 in `scratch`.
inline Plan emptyPlan() {
  Plan plan;
  plan.buffers = {{Home::Argument, 0, 64}, {Home::Result, 0, 64},         {Home::Constant, 0, 64},
                  {Home::Arena, 0, 64, 0}, {Home::Part, scratch, 16, 32}, {Home::Argument, 1, 8}};
  plan.constants.push_back(*allocateMemory(64));
  std::fill_n(plan.constants[0].get(), 64, std::byte{7});
  plan.arenaBytes = 64;
  plan.results = {result};
  plan.writtenArguments = {false, false};
  return plan;
}

inline View floats(BufferId buffer, Sizes shape) {
  return denseView(buffer, ElementType::F32, std::move(shape));
}

inline std::string written(const Plan &plan) {
  PlanWriter writer;
  writer.putPlan(plan);
  EXPECT_TRUE(writer.finish()) << writer.finish().error().text();
  return writer.take();
}

inline Status read(std::string_view bytes, Plan &plan) {
  PlanReader reader(bytes, Isa::Baseline);
  reader.getPlan(plan, {false, false});
  return reader.finish();
}

using Change = std::function<void(Plan &)>;

/// The message of a plan with something wrong.
inline std::string refusal(const Change &change) {
  Plan plan = emptyPlan();
  change(plan);
  Plan again;
  Status status = read(written(plan), again);
  if (status)
    return "accepted";
  EXPECT_EQ(status.error().code, ErrorCode::InvalidArgument);
  return status.error().message;
}

} // namespace torchere::cpu
