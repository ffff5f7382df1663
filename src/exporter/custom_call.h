// The user's custom ops as stablehlo.custom_call.
#pragma once

#include "lowering/context.h"
#include "program/program.h"

#include <vector>

namespace torchere::exporter {

/// A call's arguments: its tensors, and a JSON object of the others, by name.
struct SplitArguments {
  lowering::Values operands;
  std::string json;
};
/// Fails for arguments that are not tensors and are known only at run time.
Result<SplitArguments> splitArguments(const std::string &op,
                                      const std::vector<lowering::GivenArgument> &arguments);

/// `stablehlo.custom_call @<op>(tensors...)`: the target is the op's name; the non-tensor arguments are JSON
/// in backend_config, by name. Fails for non-tensor arguments that are known only at run time.
Result<lowering::Values> customCall(lowering::Context &cx, const program::Node &node,
                                    const std::vector<lowering::GivenArgument> &arguments,
                                    const std::vector<lowering::TensorType> &types);

/// The op that the Python function stablehlo_custom_call() calls. Its arguments are those of the StableHLO
/// op.
inline constexpr std::string_view statedCallOp = "xla.stablehlo_custom_call.default";

bool isStatedCall(const program::Node &node);
/// Whether a call is made for its effect, too: it stays if nothing reads its results.
bool hasEffect(const program::Node &node);

/// The stablehlo.custom_call with just the fields that the arguments state.
Result<lowering::Values> statedCall(lowering::Context &cx,
                                    const std::vector<lowering::GivenArgument> &arguments,
                                    const std::vector<lowering::TensorType> &types);

} // namespace torchere::exporter
