// The nesting depth of a module's text, computed without recursion.
#pragma once

#include "base/error.h"

#include <string_view>

namespace torchere::stablehlo {

/// Deeper than any program's text, and far from a stack overflow in MLIR's recursive parser, verifiers and
/// printer.
inline constexpr int64_t deepestText = 500;
/// The largest expansion of an alias, in brackets and names of aliases: aliases that name each other twice,
/// level by level, would take exponential time to print.
inline constexpr int64_t largestAlias = int64_t(1) << 24;

/// InvalidArgument, with line and column, for text that nests deeper than `deepestText`: in brackets, in what
/// the names of aliases stand for, and in the operators of an affine expression. What is no MLIR may pass.
Status checkNesting(std::string_view text, std::string_view name);

} // namespace torchere::stablehlo
