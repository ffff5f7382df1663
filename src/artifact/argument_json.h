// Constants of a call (non-tensor leaves of inputs and outputs) as JSON.
#pragma once

#include "base/error.h"
#include "base/json_cursor.h"
#include "program/program.h"

#include <string_view>

namespace torchere::artifact {

/// null, integers, bools, strings and lists are encoded as they are, and so are finite floats (always with a
/// point or an exponent). Everything else is an object with one key: {"float": "nan"}, {"complex": [re, im]},
/// {"tuple": [...]}, {"dtype": "float32"}, {"device": "cpu"}, {"layout": "strided"}, {"memory_format":
/// "contiguous_format"}. Fails for an op, which can only be an argument of a node.
TORCHERE_EXPORT Result<OrderedJson> argumentToJson(const program::Constant &argument,
                                                   std::string_view subject);

program::Constant argumentFromJson(const JsonCursor &json);

} // namespace torchere::artifact
