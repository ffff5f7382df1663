// saveAsSavedModel: a bundle as TensorFlow's SavedModel, without TensorFlow (docs/saved_model.md).
//
//   saved_model.pb                           the graph, its functions with the modules, objects, signatures
//   variables/variables.index                where each variable lies in the data
//   variables/variables.data-00000-of-00001  the variables' elements
#pragma once

#include "artifact/bundle.h"

#include <filesystem>
#include <string>

namespace torchere::artifact {

struct SavedModelOptions {
  /// The first function's signature; the others have the functions' names.
  std::string servingKey = "serving_default";
  std::string functionAlias = {}; ///< of the first function, for tools that look for it; may be empty
};

/// Writes the directory under a temporary name, syncs and renames it, as save() does. A target that is not
/// empty is refused, and what TensorFlow cannot run is refused by name. Two writes give the same bytes.
TORCHERE_EXPORT Status saveAsSavedModel(const Bundle &bundle, const std::filesystem::path &path,
                                        const SavedModelOptions &options = {});

} // namespace torchere::artifact
