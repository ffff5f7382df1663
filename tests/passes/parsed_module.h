// A module from its text, which is valid.
#pragma once

#include "stablehlo/module.h"

#include <gtest/gtest.h>

namespace torchere::passes {

inline stablehlo::Module parsed(const std::string &text) {
  Result<stablehlo::Module> module = stablehlo::Module::parse(text);
  EXPECT_TRUE(module) << module.error().text();
  return std::move(*module);
}

} // namespace torchere::passes
