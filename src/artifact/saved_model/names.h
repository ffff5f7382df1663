// The names that TensorFlow takes: of nodes, of variables, of attributes of Python objects.
#pragma once

#include "base/error.h"

#include <string>
#include <string_view>

namespace torchere::artifact::saved_model {

/// The name with every byte that TensorFlow's names lack written as "-" and two hexadecimal digits, and "-"
/// and "/" as well: different names stay different, and none is that of a constant.
TORCHERE_EXPORT std::string encodedName(std::string_view name);

/// "constants/3", which is no encoded name.
std::string constantVariableName(size_t index);

/// An error for a key that is not UTF-8, is empty or is one of TensorFlow's own ("__saved_model_init_op").
Status checkSignatureKey(std::string_view key);

/// An error for text that a message cannot hold: it has to be UTF-8, without a NUL.
Status checkText(std::string_view text, std::string_view subject);

/// Whether a loaded SavedModel can have an attribute of this name: a Python identifier that TensorFlow gives
/// no meaning.
TORCHERE_EXPORT bool canBeAttribute(std::string_view name);

} // namespace torchere::artifact::saved_model
