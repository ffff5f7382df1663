// Rows that are a formula of the elements of one or two tensors.
#pragma once

#include "lowering/elements.h"
#include "lowering/elementwise.h"

#include <type_traits>

namespace torchere::lowering {

/// An operand as an element of a formula: of the result's shape, half precision as float32.
inline Elements formulaOperand(Context &cx, const Args &args, std::string_view name) {
  DType compute = computeType(cx.resultType().dtype);
  return {cx, toResultShape(cx, numberOperand(cx, args, name, compute), compute)};
}

/// A number argument as a tensor of x's shape and element type.
inline Elements formulaNumber(const Elements &x, const Args &args, std::string_view name) {
  return x.with(x.maker().programNumberLike(args.scalar(name), x));
}

/// A row of one operand, "self" or "x", that computes in float32 for half precision.
template <auto function> mlir::Value formula(Context &cx, const Args &args) {
  Elements self = formulaOperand(cx, args, args.has("self") ? "self" : "x");
  if constexpr (std::is_invocable_v<decltype(function), const Elements &, const Args &>)
    return cx.convert(function(self, args), cx.resultType().dtype);
  else
    return cx.convert(function(self), cx.resultType().dtype);
}

/// The same of two operands, "self" and "other".
template <auto function> mlir::Value formulaOfTwo(Context &cx, const Args &args) {
  Elements self = formulaOperand(cx, args, "self");
  return cx.convert(function(self, formulaOperand(cx, args, "other")), cx.resultType().dtype);
}

} // namespace torchere::lowering
