// The reference interpreter: runs StableHLO straight from its specification, slowly and plainly, without a
// plugin.
//
// Ops that the specification leaves to the implementation: `rng` gives the same numbers each time, `sort` is
// always stable, and a reduction goes through its elements in row-major order, in the types of its body.
#pragma once

#include "interpreter/value.h"
#include "stablehlo/module.h"

#include <string>
#include <vector>

namespace torchere::interpreter {

struct Options {
  std::string entry;          ///< the function to run; when empty `main`, or the module's only function
  std::string probeDirectory; ///< where interpreter.probe writes and check.expect_serialized_eq reads
};

/// Parses and verifies text that may use the `check` dialect, beside what stablehlo::Module::parse takes.
TORCHERE_EXPORT Result<stablehlo::Module> parseModule(std::string_view text,
                                                      std::string_view name = "module");

/// Runs a function with the given arguments. Errors name the op and its place: InvalidArgument for arguments
/// of other types than the function's, for a failed check, and for sizes that turn out not to fit;
/// Unimplemented for an op that cannot be interpreted, such as a custom call. A program that does not end
/// does not end here either.
TORCHERE_EXPORT Result<std::vector<Tensor>>
interpret(const stablehlo::Module &module, std::vector<Tensor> inputs, const Options &options = {});

} // namespace torchere::interpreter
