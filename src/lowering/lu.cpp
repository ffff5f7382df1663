// LU factors: one loop over the columns, each step an exchange of rows and an update of rank one.
#include "lowering/lu.h"

#include "lowering/region.h"

#include <limits>

namespace torchere::lowering {

namespace {

/// What LAPACK compares pivots by.
Elements pivotSize(const Elements &value) {
  if (!dtypeInfo(Context::dtype(value)).isComplex)
    return abs(value);
  Context &cx = value.maker();
  mlir::Type type = mlir::Value(realPart(value)).getType();
  Elements imaginary(cx,
                     cx.withShape(cx.create<stablehlo::ImagOp>(type, mlir::Value(value)), cx.shape(value)));
  return abs(realPart(value)) + abs(imaginary);
}

/// The place of the greatest element from `step` on, the first of equals; `step` where all are NaN.
Elements pivotPlace(const Elements &column, const Elements &step) {
  Context &cx = column.maker();
  Elements places = placesOf(cx, column);
  Elements sizes = pivotSize(column);
  sizes = (places >= everywhere(step, places)).select(sizes, -1.0);
  Elements isGreatest = sizes >= everywhere(greatestAlong(sizes, {1}), sizes);
  const int64_t none = std::numeric_limits<int32_t>::max();
  Elements candidates = isGreatest.select(places, places.constant(none));
  Elements first(cx, cx.reduceWith<stablehlo::MinOp>(candidates, cx.constant(none, DType::I32), {1}));
  return equal(first, first.constant(none)).select(everywhere(step, first), first);
}

/// Exchanges the elements that the masks have along axis 1, one each.
Elements exchange(const Elements &value, const Elements &isFirst, const Elements &isSecond) {
  Context &cx = value.maker();
  Elements first(cx, cx.spread(takeAlong(value, isFirst, 1), value, {1}));
  Elements second(cx, cx.spread(takeAlong(value, isSecond, 1), value, {1}));
  return isFirst.select(second, isSecond.select(first, value));
}

/// Where step k stands in vectors or matrices, along axis 1.
Elements isAt(const Elements &place, const Elements &like) {
  return equal(like.with(like.maker().iota(like.maker().shape(like), DType::I32, 1)),
               everywhere(place, like));
}

/// Subtracts what column `step` and row `step` make from what lies behind both, and scales the column.
Elements eliminate(const Elements &matrices, const Elements &step, const Elements &pivot,
                   const Elements &isSingular) {
  Context &cx = matrices.maker();
  Elements row = rowsOf(cx, matrices), column = columnsOf(cx, matrices);
  Elements k = everywhere(step, row);
  Elements left = takeAlong(matrices, equal(column, k), 2);
  Elements top = takeAlong(matrices, equal(row, k), 1);
  Elements divisor = isSingular.select(1.0, pivot);
  Elements scaled = (placesOf(cx, left) > everywhere(step, placesOf(cx, left)))
                        .select(left / everywhere(divisor, left), left);
  Elements updated = matrices - byRow(scaled, matrices) * byColumn(top, matrices);
  Elements kept = equal(column, k).select(byRow(scaled, matrices), matrices);
  return both(row > k, column > k).select(updated, kept);
}

Values luStep(const Elements &step, const Elements &matrices, const Elements &pivots,
              const Elements &permutation, const Elements &info) {
  Context &cx = matrices.maker();
  Elements column =
      takeAlong(matrices, equal(columnsOf(cx, matrices), everywhere(step, columnsOf(cx, matrices))), 2);
  Elements place = pivotPlace(column, step);
  Elements exchanged = exchange(matrices, isAt(step, matrices), isAt(place, matrices));
  Elements pivot = takeAlong(column, isAt(place, column), 1);
  Elements isSingular = equal(pivot, 0.0);
  Elements one = place.constant(int64_t{1});
  Elements isFirst = both(isSingular, equal(info, info.constant(int64_t{0})));
  return {eliminate(exchanged, step, pivot, isSingular),
          isAt(step, pivots).select(everywhere(place + one, pivots), pivots),
          exchange(permutation, isAt(step, permutation), isAt(place, permutation)),
          isFirst.select(everywhere(step, info) + one, info)};
}

} // namespace

LuFactors factorLu(const Elements &matrices) {
  Context &cx = matrices.maker();
  Dims shape = cx.shape(matrices);
  Dim steps = cx.minimum(shape[1], shape[2]);
  Values state = {matrices, cx.full(int64_t{0}, DType::I32, {shape[0], steps}),
                  cx.iota({shape[0], shape[1]}, DType::I32, 1), cx.full(int64_t{0}, DType::I32, {shape[0]})};
  auto body = [&](mlir::Value step, const Values &now) {
    return luStep({cx, step}, {cx, now[0]}, {cx, now[1]}, {cx, now[2]}, {cx, now[3]});
  };
  Values done = repeatTimes(cx, cx.sizeTensor(steps, DType::I32), state, body, "lu");
  return {{cx, done[0]}, {cx, done[1]}, {cx, done[2]}, {cx, done[3]}};
}

Elements permutationOf(const Elements &pivots, Dim rows) {
  Context &cx = pivots.maker();
  Dims shape = cx.shape(pivots);
  Values state = {cx.iota({shape[0], rows}, DType::I32, 1), pivots};
  Values done =
      repeatTimes(cx, cx.sizeTensor(shape[1], DType::I32), state, [&](mlir::Value number, const Values &now) {
        Elements step(cx, number), permutation(cx, now[0]), all(cx, now[1]);
        Elements place = takeAlong(all, isAt(step, all), 1);
        place = place - place.constant(int64_t{1});
        return Values{exchange(permutation, isAt(step, permutation), isAt(place, permutation)), all};
      });
  return {cx, done[0]};
}

Elements solveLu(const Elements &packed, const Elements &permutation, const Elements &right, bool isAdjoint) {
  Context &cx = right.maker();
  Triangle lower{.isLower = true, .isUnit = true}, upper{.isLower = false};
  if (!isAdjoint)
    return solveTriangles(packed, solveTriangles(packed, gatherRows(right, permutation), lower), upper);
  lower.transpose = upper.transpose = stablehlo::Transpose::ADJOINT;
  Elements solution = solveTriangles(packed, solveTriangles(packed, right, upper), lower);
  // Row i belongs at permutation[i].
  Dims shape = cx.shape(permutation);
  Elements places(cx, cx.iota({shape[0], shape[1], shape[1]}, DType::I32, 1));
  Elements isHere = equal(byRow(permutation, places), columnsOf(cx, places));
  return gatherRows(solution, takeAlong(places, isHere, 1));
}

} // namespace torchere::lowering
