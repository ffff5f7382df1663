// The reference interpreter: runs StableHLO exactly as specified, slowly and simply, without a plugin.
//
// Implementation-defined ops: `rng` returns the same numbers in every run, `sort` is always stable, and a
// reduction visits its elements in row-major order, in the types of its body.
#pragma once

#include "interpreter/value.h"
#include "stablehlo/module.h"

#include <string>
#include <vector>

namespace torchere::interpreter {

struct Options {
  std::string entry;          ///< the function to run; if empty, `main` or the module's only function
  std::string probeDirectory; ///< where interpreter.probe writes and check.expect_serialized_eq reads
};

/// Parses and verifies text; accepts the `check` dialect in addition to what stablehlo::Module::parse
/// accepts.
TORCHERE_EXPORT Result<stablehlo::Module> parseModule(std::string_view text,
                                                      std::string_view name = "module");

/// Runs a function with the given arguments. Errors name the op and its place: InvalidArgument for arguments
/// of the wrong types, for a failed check, and for runtime sizes that do not fit; Unimplemented for an op
/// that cannot be interpreted, such as a custom call. A program that does not terminate is not stopped.
TORCHERE_EXPORT Result<std::vector<Tensor>>
interpret(const stablehlo::Module &module, std::vector<Tensor> inputs, const Options &options = {});

} // namespace torchere::interpreter
