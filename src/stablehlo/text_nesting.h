// How deep the text of a module nests, found without recursion.
#pragma once

#include "base/error.h"

#include <string_view>

namespace torchere::stablehlo {

/// Deeper than any program's text, and far from the end of the stack, which MLIR's parser, verifiers and
/// printer need more of with each level.
inline constexpr int64_t deepestText = 500;
/// What an alias may stand for, in brackets and names of aliases: one that names others twice, which do so in
/// turn, would take forever to print.
inline constexpr int64_t largestAlias = int64_t(1) << 24;

/// InvalidArgument, with line and column, for text that nests deeper than `deepestText`: in brackets, in what
/// the names of aliases stand for, and in the operators of an affine expression. What is no MLIR may pass.
Status checkNesting(std::string_view text, std::string_view name);

} // namespace torchere::stablehlo
