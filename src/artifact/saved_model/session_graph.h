// The graph that sessions run: variables, signatures, and what restores and saves the variables.
#pragma once

#include "artifact/saved_model/model.h"
#include "artifact/saved_model/wire_format.h"

#include <string>
#include <string_view>

namespace torchere::artifact::saved_model {

/// The key of a variable's tensor in the checkpoint.
std::string checkpointKey(size_t variable);
/// The key of the message that says which object has which tensors.
inline constexpr std::string_view objectGraphKey = "_CHECKPOINTABLE_OBJECT_GRAPH";

/// A GraphDef. `checkpointObjects` is what the checkpoint has under objectGraphKey.
Message graphDefinition(const Model &model, const std::string &checkpointObjects);

/// A SaverDef of the graph's nodes.
Message saverDefinition();

/// A SignatureDef of a function.
Message signatureDefinition(const Model &model, size_t index);

} // namespace torchere::artifact::saved_model
