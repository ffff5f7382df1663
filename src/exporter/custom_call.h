// The user's custom ops as stablehlo.custom_call.
#pragma once

#include "lowering/context.h"
#include "program/program.h"

#include <vector>

namespace torchere::exporter {

/// `stablehlo.custom_call @<op>(tensors...)`: the target is the op's name; the non-tensor arguments are JSON
/// in backend_config, by name. Fails for non-tensor arguments that are known only at run time.
Result<lowering::Values> customCall(lowering::Context &cx, const program::Node &node,
                                    const std::vector<lowering::GivenArgument> &arguments,
                                    const std::vector<lowering::TensorType> &types);

} // namespace torchere::exporter
