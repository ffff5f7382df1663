// Attributes of an entry function's arguments that are this project's own. Others ignore them.
#pragma once

namespace torchere::stablehlo {

/// A bool: the argument is the same in most calls, and no call writes it.
inline constexpr const char *weightAttribute = "torchere.weight";

/// A bool: the argument is a 0-d integer that sizes depend on.
inline constexpr const char *sizeAttribute = "torchere.in_shapes";

} // namespace torchere::stablehlo
