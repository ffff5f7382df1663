// The objects that tf.saved_model.load makes: the root, its functions, its signatures, its variables.
#pragma once

#include "artifact/saved_model/model.h"
#include "artifact/saved_model/wire_format.h"

namespace torchere::artifact::saved_model {

/// A SavedObjectGraph: what the objects are.
Message objectGraph(const Model &model);

/// A TrackableObjectGraph: which keys of the checkpoint they have. The objects and their numbers are the
/// same.
Message checkpointObjectGraph(const Model &model);

} // namespace torchere::artifact::saved_model
