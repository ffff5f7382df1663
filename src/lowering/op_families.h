// The families of the op table: which file of src/lowering/ops each row stands in.
#pragma once

#include "lowering/op_table.h"

#include <map>
#include <string>

namespace torchere::lowering {

/// By the rows' names, the names of their files without ".cpp": "aten.tan.default" is of "trigonometry".
std::map<std::string, std::string> familiesOfRows();

} // namespace torchere::lowering
