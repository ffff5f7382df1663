// Householder reflectors: loops over the columns, each step an update of rank one.
#include "lowering/householder.h"

#include "lowering/region.h"

namespace torchere::lowering {

namespace {

/// What takes a column x, [batch, m], to one with nothing below `step`: (I - tau v v^H)^H x.
struct Reflector {
  Elements v;    ///< [batch, m]: zeros before `step`, one there
  Elements tau;  ///< [batch]
  Elements beta; ///< [batch]: what is left at `step`, real
};

/// The norm is taken of scaled numbers, so that no square is out of range.
Reflector reflectorOf(const Elements &column, const Elements &step) {
  Context &cx = column.maker();
  Elements places = placesOf(cx, column), at = everywhere(step, placesOf(cx, column));
  Elements here = takeAlong(column, equal(places, at), 1);
  Elements below = (places > at).select(column, 0.0);
  Elements sizes = (places >= at).select(magnitude(column), 0.0);
  Elements scale = scaleOf(greatestAlong(sizes, {1}));
  Elements head = here / convertedLike(scale, here);
  below = below / everywhere(convertedLike(scale, here), below);
  Elements square = sumAlong(magnitude(below) * magnitude(below), 1);
  Elements size = magnitude(head);
  Elements norm = sqrt(size * size + square);
  Elements real = convertedLike((realPart(head) < 0.0).select(norm, -norm), head);
  // Where nothing is to be done, the reflector is the identity.
  Elements isDone = both(equal(square, 0.0), equal(convertedLike(realPart(head), head), head));
  Elements tau = isDone.select(0.0, (real - head) / isDone.select(1.0, real));
  Elements divisor = isDone.select(1.0, head - real);
  Elements v = equal(places, at).select(1.0, below / everywhere(divisor, below));
  return {v, tau, isDone.select(here, real * convertedLike(scale, here))};
}

/// matrices - factor v (v^H matrices)
Elements reflect(const Elements &matrices, const Elements &v, const Elements &factor) {
  Context &cx = matrices.maker();
  Elements along(cx, cx.dotGeneral(conjugate(v), matrices, /*batch=*/1, /*lhsAxis=*/1, /*rhsAxis=*/1));
  return matrices - byRow(v * everywhere(factor, v), matrices) * byColumn(along, matrices);
}

Values qrStep(const Elements &step, const Elements &matrices, const Elements &tau) {
  Context &cx = matrices.maker();
  Elements columns = columnsOf(cx, matrices), k = everywhere(step, columns);
  Elements column = takeAlong(matrices, equal(columns, k), 2);
  Reflector reflector = reflectorOf(column, step);
  Elements updated = reflect(matrices, reflector.v, conjugate(reflector.tau));
  Elements places = placesOf(cx, column), at = everywhere(step, placesOf(cx, column));
  Elements packed = (places > at).select(reflector.v, column);
  packed = equal(places, at).select(everywhere(reflector.beta, packed), packed);
  Elements kept = equal(columns, k).select(byRow(packed, matrices), matrices);
  Elements isStep = equal(placesOf(cx, tau), everywhere(step, placesOf(cx, tau)));
  return {(columns > k).select(updated, kept), isStep.select(everywhere(reflector.tau, tau), tau)};
}

} // namespace

Reflectors factorQr(const Elements &matrices) {
  Context &cx = matrices.maker();
  Dims shape = cx.shape(matrices);
  Dim steps = cx.minimum(shape[1], shape[2]);
  Values state = {matrices, cx.full(0.0, Context::dtype(matrices), {shape[0], steps})};
  auto body = [&](mlir::Value step, const Values &now) {
    return qrStep({cx, step}, {cx, now[0]}, {cx, now[1]});
  };
  Values done = repeatTimes(cx, cx.sizeTensor(steps, DType::I32), state, body, "qr");
  return {{cx, done[0]}, {cx, done[1]}};
}

Elements applyReflectors(const Reflectors &reflectors, const Elements &matrices, bool isAdjoint) {
  Context &cx = matrices.maker();
  mlir::Value count = cx.sizeTensor(cx.size(reflectors.tau, 1), DType::I32);
  Values state = {matrices, reflectors.packed, reflectors.tau, count};
  auto body = [&](mlir::Value number, const Values &now) {
    Elements step(cx, number), packed(cx, now[1]), tau(cx, now[2]), steps(cx, now[3]);
    if (!isAdjoint) // Q is H_0 H_1 ...: the last one meets X first
      step = steps - step - step.constant(int64_t{1});
    Elements columns = columnsOf(cx, packed);
    Elements column = takeAlong(packed, equal(columns, everywhere(step, columns)), 2);
    Elements places = placesOf(cx, column), at = everywhere(step, placesOf(cx, column));
    Elements v = (places > at).select(column, 0.0);
    v = equal(places, at).select(1.0, v);
    Elements factor = takeAlong(tau, equal(placesOf(cx, tau), everywhere(step, placesOf(cx, tau))), 1);
    return Values{reflect({cx, now[0]}, v, isAdjoint ? conjugate(factor) : factor), packed, tau, steps};
  };
  Values done = repeatTimes(cx, count, state, body, isAdjoint ? "adjoint_reflectors" : "reflectors");
  return {cx, done[0]};
}

} // namespace torchere::lowering
