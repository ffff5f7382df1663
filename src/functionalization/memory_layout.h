// What the sizes and strides of a tensor's type say about its memory.
#pragma once

#include "program/program.h"

#include <optional>
#include <vector>

namespace torchere::functionalization {

/// Whether the elements lie row by row without gaps. Strides of dimensions of size 1 do not matter; a type
/// without strides counts as contiguous.
bool isContiguous(const program::TensorType &type, program::ExpressionPool &expressions);

/// Whether two elements are known to lie, or may lie, in one place. Without constant strides, only those of
/// 0 tell.
bool hasInternalOverlap(const program::TensorType &type);

/// Whether a tensor of type `to`, made of one of type `from` by an op that copies only what it must, is that
/// tensor itself.
bool isSameLayout(const program::TensorType &from, const program::TensorType &to);

/// The dimensions in the order of memory, outermost first. Nothing when the memory has gaps or its layout is
/// not known.
std::optional<std::vector<int64_t>> denseOrder(const program::TensorType &type,
                                               program::ExpressionPool &expressions);

} // namespace torchere::functionalization
