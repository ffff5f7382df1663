// Attributes of an entry function's arguments.
#pragma once

namespace torchere::stablehlo {

// This project's own, which others ignore.

/// A bool: the argument is the same in most calls, and no call writes it.
inline constexpr const char *weightAttribute = "torchere.weight";

/// A bool: the argument is a 0-d integer that sizes depend on.
inline constexpr const char *sizeAttribute = "torchere.in_shapes";

// JAX's, which compilers know.

/// An integer: the result that takes the argument's memory.
inline constexpr const char *aliasingAttribute = "tf.aliasing_output";

/// A bool: any result may take it.
inline constexpr const char *donorAttribute = "jax.buffer_donor";

inline constexpr const char *donationAttributes[] = {aliasingAttribute, donorAttribute};

} // namespace torchere::stablehlo
