// Ops of the user's own as stablehlo.custom_call.
#pragma once

#include "lowering/context.h"
#include "program/program.h"

#include <vector>

namespace torchere::exporter {

/// `stablehlo.custom_call @<op>(tensors...)`: the op's name is the target; arguments that are no tensors are
/// JSON in backend_config, by name. Fails for arguments that are known only at run time and are no tensors.
Result<lowering::Values> customCall(lowering::Context &cx, const program::Node &node,
                                    const std::vector<lowering::GivenArgument> &arguments,
                                    const std::vector<lowering::TensorType> &types);

} // namespace torchere::exporter
