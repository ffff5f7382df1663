// From a program's input and output specs to an entry point.
#pragma once

#include "exporter/exporter.h"
#include "program/entry_point.h"

#include <optional>
#include <vector>

namespace torchere::exporter {

/// What a placeholder of the program becomes.
struct PlannedInput {
  program::NodeId node = 0;
  program::EntryInput entry;
  const program::Weight *weight = nullptr; ///< the value; null for user inputs
  bool isInlined = false;                  ///< a constant small enough to be part of the module
  bool isGenerator = false;                ///< the state of the random numbers, which no node stands for
};

struct PlannedOutput {
  const program::Argument *value = nullptr;
  program::EntryOutput entry;
};

struct SignaturePlan {
  std::vector<PlannedInput>
      inputs; ///< in the order of the function's arguments; inlined constants may be anywhere
  std::vector<PlannedOutput> outputs; ///< in the order of the function's results
  program::EntryPoint
      entryPoint; ///< except `inputs`, `unusedInputs` and `outputs`, which lowering determines
  std::unordered_map<std::string, program::Weight> stateDict;
  std::vector<program::Weight>
      constants;                    ///< those that are arguments; filled together with `entryPoint.inputs`
  std::vector<std::string> leftOut; ///< Exported::leftOut
};

/// Fails on inputs and outputs that a function of tensors cannot express (tokens, custom objects, values of
/// unknown type), naming them.
Result<SignaturePlan> planSignature(const program::Program &program, const Options &options);

} // namespace torchere::exporter
