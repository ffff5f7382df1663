// Greatest common divisors and least common multiples.
#include "lowering/elements.h"
#include "lowering/elementwise.h"
#include "lowering/op_table.h"
#include "lowering/region.h"

#include <numeric>

namespace torchere::lowering {

namespace {

using Direction = stablehlo::ComparisonDirection;

Elements absolute(const Elements &x) {
  return dtypeInfo(Context::dtype(x)).isSigned ? abs(x) : x;
}

/// Euclid's algorithm on all elements, for as long as one of them has a remainder.
Elements commonDivisor(Context &cx, const Elements &a, const Elements &b) {
  Integers axes(Context::rank(a));
  std::iota(axes.begin(), axes.end(), 0);
  Values done = repeatWhile(
      cx, {absolute(b), absolute(a)},
      [&](mlir::ValueRange state) {
        mlir::Value remains = cx.compare(Direction::NE, state[1], cx.fullLike(int64_t{0}, state[1]));
        return Values{axes.empty()
                          ? remains
                          : cx.reduceWith<stablehlo::OrOp>(remains, cx.constant(false, DType::Bool), axes)};
      },
      [&](mlir::ValueRange state) {
        Elements larger(cx, state[0]), smaller(cx, state[1]);
        Elements isDone = equal(smaller, smaller.constant(int64_t{0}));
        Elements divisor = isDone.select(smaller.constant(int64_t{1}), smaller);
        Elements remainder = larger.apply<stablehlo::RemOp>(divisor);
        return Values{isDone.select(larger, smaller), isDone.select(smaller, remainder)};
      });
  return {cx, done[0]};
}

template <bool isMultiple> Result<mlir::Value> divisorRow(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  Elements a(cx, toResultShape(cx, args.tensor("self"), dtype));
  Elements b(cx, toResultShape(cx, args.tensor("other"), dtype));
  Elements divisor = commonDivisor(cx, a, b);
  if (!isMultiple)
    return divisor;
  // Short integers are multiplied as int32, so the sign of a multiple too large for them is lost before its
  // upper bits are.
  DType compute = byteSize(dtype) < 4 ? DType::I32 : dtype;
  auto widened = [&](const Elements &x) { return Elements(cx, cx.convert(x, compute)); };
  divisor = widened(divisor);
  Elements zero = divisor.constant(int64_t{0}), isZero = equal(divisor, zero);
  Elements quotient = widened(a) / isZero.select(divisor.constant(int64_t{1}), divisor);
  return cx.convert(isZero.select(zero, absolute(quotient * widened(b))), dtype);
}

} // namespace

void addDivisor(OpTable &table) {
  table.add("aten::gcd(Tensor self, Tensor other) -> Tensor", divisorRow<false>);
  table.add("aten::lcm(Tensor self, Tensor other) -> Tensor", divisorRow<true>);
}

} // namespace torchere::lowering
