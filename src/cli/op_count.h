// Counting the ops in the text of a module, without parsing it.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace torchere::cli {

/// How often each op of StableHLO and CHLO occurs in the text: "stablehlo.add" -> 12. Names in strings,
/// types, attributes and comments do not count.
std::map<std::string, size_t> countOps(std::string_view moduleText);

} // namespace torchere::cli
