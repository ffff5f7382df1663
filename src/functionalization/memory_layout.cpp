// Contiguity, overlap and the order of dimensions in memory, from sizes and strides.
#include "functionalization/memory_layout.h"

#include <algorithm>
#include <numeric>

namespace torchere::functionalization {

using program::SymInt;
using program::TensorType;

static bool isOne(SymInt size) {
  return size == SymInt(1);
}

static bool isEmpty(const TensorType &type) {
  return std::ranges::any_of(type.shape, [](SymInt size) { return size == SymInt(0); });
}

bool isContiguous(const TensorType &type, program::ExpressionPool &expressions) {
  if (type.strides.size() != type.shape.size() || isEmpty(type))
    return true;
  SymInt expected = 1;
  for (size_t i = type.shape.size(); i-- > 0;) {
    if (isOne(type.shape[i]))
      continue;
    if (type.strides[i] != expected)
      return false;
    expected = expressions.make(program::ExpressionKind::Mul, {expected, type.shape[i]});
  }
  return true;
}

static bool isStatic(std::span<const SymInt> sizes) {
  return std::ranges::all_of(sizes, [](SymInt size) { return size.isConstant(); });
}

/// Dimensions of more than one element, by descending strides. Sizes and strides are constants.
static std::vector<int64_t> byStride(const TensorType &type) {
  std::vector<int64_t> order;
  for (size_t i = 0; i < type.shape.size(); ++i)
    if (!isOne(type.shape[i]))
      order.push_back(static_cast<int64_t>(i));
  std::ranges::stable_sort(
      order, [&](int64_t a, int64_t b) { return type.strides[a].constant() > type.strides[b].constant(); });
  return order;
}

bool hasInternalOverlap(const TensorType &type) {
  if (type.strides.size() != type.shape.size() || isEmpty(type))
    return false;
  for (size_t i = 0; i < type.shape.size(); ++i)
    if (type.strides[i] == SymInt(0) && !isOne(type.shape[i]))
      return true;
  if (!isStatic(type.shape) || !isStatic(type.strides))
    return false;
  // Each dimension must step over all that the inner ones reach.
  int64_t reach = 0;
  std::vector<int64_t> order = byStride(type);
  for (size_t i = order.size(); i-- > 0;) {
    int64_t stride = type.strides[order[i]].constant(), span = 0;
    if (stride <= reach || __builtin_mul_overflow(type.shape[order[i]].constant() - 1, stride, &span) ||
        __builtin_add_overflow(reach, span, &reach))
      return true;
  }
  return false;
}

bool isSameLayout(const TensorType &from, const TensorType &to) {
  return from.dtype == to.dtype && from.device == to.device && std::ranges::equal(from.shape, to.shape) &&
         std::ranges::equal(from.strides, to.strides);
}

std::optional<std::vector<int64_t>> denseOrder(const TensorType &type, program::ExpressionPool &expressions) {
  std::vector<int64_t> all(type.shape.size());
  std::iota(all.begin(), all.end(), 0);
  if (isContiguous(type, expressions))
    return all;
  if (!isStatic(type.shape) || !isStatic(type.strides))
    return std::nullopt;
  std::vector<int64_t> order = byStride(type);
  int64_t expected = 1;
  for (size_t i = order.size(); i-- > 0;) {
    if (type.strides[order[i]].constant() != expected ||
        __builtin_mul_overflow(expected, type.shape[order[i]].constant(), &expected))
      return std::nullopt;
  }
  for (int64_t i : all) // those of one element stand anywhere
    if (isOne(type.shape[i]))
      order.push_back(i);
  return order;
}

} // namespace torchere::functionalization
