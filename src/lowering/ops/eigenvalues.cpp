// Eigenvalues and eigenvectors of matrices of any kind: the QR iteration of Francis on a Hessenberg form, in
// complex numbers, with Wilkinson's shifts.
#include "lowering/matrix.h"
#include "lowering/op_table.h"
#include "lowering/region.h"

#include <optional>

namespace torchere::lowering {

namespace {

/// What is similar to a matrix, and the unitary matrix that makes it so: A = Z H Z^H. [batch, n, n]
struct Similar {
  Elements h;
  std::optional<Elements> z; ///< none where nobody asks for vectors

  Values values() const { return z ? Values{h, *z} : Values{h}; }
  static Similar from(Context &cx, mlir::ValueRange values) {
    return {{cx, values[0]}, values.size() > 1 ? std::optional(Elements(cx, values[1])) : std::nullopt};
  }
};

Elements numberOf(const Elements &like, int64_t number) {
  return like.constant(number);
}

/// The row (column) of each element, plus a number.
Elements shifted(const Elements &places, int64_t by) {
  return places + places.constant(by);
}

/// I - factor v v^H takes a column to one with nothing below the row after `step`.
struct HalfReflector {
  Elements v;      ///< [batch, n]
  Elements factor; ///< [batch], of the matrices' type
};

HalfReflector reflectorBelow(const Elements &column, const Elements &step) {
  Context &cx = column.maker();
  Elements places = placesOf(cx, column), at = shifted(everywhere(step, places), 1);
  Elements x = (places >= at).select(column, 0.0);
  Elements scale = convertedLike(scaleOf(greatestAlong(magnitude(x), {1})), x);
  x = x / everywhere(scale, x);
  Elements head = takeAlong(x, equal(places, at), 1), size = magnitude(head);
  Elements isThere = size > 0.0;
  Elements phase = isThere.select(head / convertedLike(isThere.select(size, 1.0), head), 1.0);
  Elements norm = sqrt(sumAlong(magnitude(x) * magnitude(x), 1));
  Elements v = equal(places, at).select(x + everywhere(phase * convertedLike(norm, phase), x), x);
  Elements square = sumAlong(magnitude(v) * magnitude(v), 1);
  Elements isNeeded = square > 0.0;
  Elements factor = isNeeded.select(2.0 / isNeeded.select(square, 1.0), 0.0);
  return {v, convertedLike(factor, v)};
}

/// matrices (I - factor v v^H)
Elements reflectRight(const Elements &matrices, const HalfReflector &reflector) {
  Context &cx = matrices.maker();
  Elements along(cx, cx.dotGeneral(matrices, reflector.v, /*batch=*/1, /*lhsAxis=*/2, /*rhsAxis=*/1));
  return matrices - byRow(along * everywhere(reflector.factor, along), matrices) *
                        byColumn(conjugate(reflector.v), matrices);
}

/// (I - factor v v^H) matrices
Elements reflectLeft(const Elements &matrices, const HalfReflector &reflector) {
  Context &cx = matrices.maker();
  Elements along(cx,
                 cx.dotGeneral(conjugate(reflector.v), matrices, /*batch=*/1, /*lhsAxis=*/1, /*rhsAxis=*/1));
  return matrices -
         byRow(reflector.v * everywhere(reflector.factor, reflector.v), matrices) * byColumn(along, matrices);
}

/// Nothing but rounding errors is below the first diagonal under the main one.
Similar hessenberg(const Elements &matrices, bool withVectors) {
  Context &cx = matrices.maker();
  Dims shape = cx.shape(matrices);
  Similar start{matrices, std::nullopt};
  if (withVectors)
    start.z = identity(cx, shape, Context::dtype(matrices));
  mlir::Value count = cx.sizeTensor(cx.subtract(shape[1], 2), DType::I32);
  Values done = repeatTimes(cx, count, start.values(), [&](mlir::Value step, const Values &now) {
    Similar similar = Similar::from(cx, now);
    Elements columns = columnsOf(cx, similar.h), k(cx, step);
    Elements column = takeAlong(similar.h, equal(columns, everywhere(k, columns)), 2);
    HalfReflector reflector = reflectorBelow(column, k);
    similar.h = reflectRight(reflectLeft(similar.h, reflector), reflector);
    if (similar.z)
      similar.z = reflectRight(*similar.z, reflector);
    return similar.values();
  });
  Similar similar = Similar::from(cx, done);
  similar.h = upperTriangle(similar.h, -1);
  return similar;
}

/// Zeros in place of entries below the diagonal that are none but rounding errors of those beside them. NaN
/// counts as one, so that nothing is repeated for it.
Elements deflated(const Elements &h) {
  Context &cx = h.maker();
  Elements rows = rowsOf(cx, h), columns = columnsOf(cx, h);
  Elements sizes = magnitude(h);
  Elements own = takeAlong(sizes, equal(rows, columns), 2);
  Elements before = takeAlong(byColumn(own, sizes), equal(shifted(rows, -1), columns), 2);
  Elements beside = own + before;
  beside = (beside > 0.0).select(beside, 1.0);
  Elements isKept = sizes > byRow(beside, sizes) * epsilonOf(Context::dtype(h));
  return equal(shifted(rows, -1), columns).select(isKept.select(h, 0.0), h);
}

/// [batch], i32: the last row with something before its diagonal; 0 where there is none.
Elements lastActive(const Elements &h) {
  Context &cx = h.maker();
  Elements rows = rowsOf(cx, h), columns = columnsOf(cx, h);
  Elements isActive = both(magnitude(h) > 0.0, equal(shifted(rows, -1), columns));
  return greatestAlong(isActive.select(rows, numberOf(rows, 0)), {1, 2});
}

/// Entry (at + row, at + column) of each matrix: [batch].
Elements entryAt(const Elements &h, const Elements &at, int64_t row, int64_t column) {
  Context &cx = h.maker();
  Elements rows = rowsOf(cx, h), columns = columnsOf(cx, h), place = everywhere(at, rows);
  Elements isThere = both(equal(rows, shifted(place, row)), equal(columns, shifted(place, column)));
  return sumAlong(takeAlong(h, isThere, 2), 1);
}

/// The eigenvalue of the last two active rows that is nearer to the last entry: [batch]. In every tenth round
/// it is another number, for matrices that shifts leave as they are.
Elements shiftOf(const Elements &h, const Elements &last, const Elements &round) {
  Elements d = entryAt(h, last, 0, 0), below = entryAt(h, last, 0, -1);
  Elements half = (entryAt(h, last, -1, -1) - d) * 0.5;
  Elements root = sqrt(half * half + entryAt(h, last, -1, 0) * below);
  Elements plus = half + root, minus = half - root;
  Elements shift = d + (magnitude(plus) < magnitude(minus)).select(plus, minus);
  Elements other = d + convertedLike(magnitude(below), d);
  Elements tens = round.apply<stablehlo::RemOp>(numberOf(round, 10));
  Elements isTenth = equal(tens, numberOf(tens, 9));
  return everywhere(isTenth, last).select(other, shift);
}

/// Rows `step` and the one after it, rotated so that the entry below the diagonal in column `step` is zero.
Elements rotated(const Elements &matrices, const Elements &step) {
  Context &cx = matrices.maker();
  Elements rows = rowsOf(cx, matrices), k = everywhere(step, rows), next = shifted(k, 1);
  Elements upper = takeAlong(matrices, equal(rows, k), 1), lower = takeAlong(matrices, equal(rows, next), 1);
  Elements places = placesOf(cx, upper), isPivot = equal(places, everywhere(step, places));
  Elements x = takeAlong(upper, isPivot, 1), y = takeAlong(lower, isPivot, 1);
  Elements scale = scaleOf(maximum(magnitude(x), magnitude(y)));
  Elements first = magnitude(x) / scale, second = magnitude(y) / scale;
  Elements length = convertedLike(sqrt(first * first + second * second) * scale, x);
  Elements isNeeded = magnitude(y) > 0.0;
  Elements divisor = isNeeded.select(length, 1.0);
  Elements cosine = everywhere(isNeeded.select(x / divisor, 1.0), upper);
  Elements sine = everywhere(isNeeded.select(y / divisor, 0.0), upper);
  Elements newUpper = conjugate(cosine) * upper + conjugate(sine) * lower;
  Elements newLower = cosine * lower - sine * upper;
  return equal(rows, k).select(byColumn(newUpper, matrices),
                               equal(rows, next).select(byColumn(newLower, matrices), matrices));
}

/// H - s I = Q R becomes R Q + s I.
Similar qrStep(const Similar &similar, const Elements &shift) {
  const Elements &h = similar.h;
  Context &cx = h.maker();
  Dims shape = cx.shape(h);
  Elements ones = identity(cx, shape, Context::dtype(h));
  Elements moved = ones * everywhere(shift, h);
  Values state = {cx.concatenate({h - moved, ones}, 2)};
  mlir::Value count = cx.sizeTensor(cx.subtract(shape[1], 1), DType::I32);
  Values done = repeatTimes(cx, count, state, [&](mlir::Value step, const Values &now) {
    return Values{rotated({cx, now[0]}, {cx, step})};
  });
  Elements r = upperTriangle({cx, cx.sliceAxis(done[0], 2, 0, shape[2])});
  Elements q = adjoint({cx, cx.sliceAxis(done[0], 2, shape[2], cx.add(shape[2], shape[2]))});
  Similar next{upperTriangle(product(r, q) + moved, -1), similar.z};
  if (next.z)
    next.z = product(*next.z, q);
  return next;
}

/// Triangular matrices. Three or four rounds an eigenvalue are usual; this many are made of what does not
/// converge.
Similar schurForm(const Similar &start) {
  Context &cx = start.h.maker();
  Elements most = Elements(cx, cx.sizeTensor(cx.multiply(cx.size(start.h, 1), 30), DType::I32));
  Similar first{deflated(start.h), start.z};
  Values state = {cx.constant(int64_t{0}, DType::I32), most};
  state.append(first.values());
  auto condition = [&](mlir::ValueRange now) {
    Elements active = greatestAlong(lastActive({cx, now[2]}), {0});
    Elements round(cx, now[0]), limit(cx, now[1]);
    return Values{both(active > active.constant(int64_t{0}), round < limit)};
  };
  auto body = [&](mlir::ValueRange now) {
    Similar similar = Similar::from(cx, now.drop_front(2));
    Elements round(cx, now[0]), last = lastActive(similar.h);
    Similar next = qrStep(similar, shiftOf(similar.h, last, round));
    Elements isActive = last > numberOf(last, 0);
    next.h = everywhere(isActive, next.h).select(deflated(next.h), similar.h);
    if (next.z)
      next.z = everywhere(isActive, *next.z).select(*next.z, *similar.z);
    Values results = {shifted(round, 1), now[1]};
    results.append(next.values());
    return results;
  };
  Values done = repeatWhile(cx, state, condition, body);
  Similar similar = Similar::from(cx, mlir::ValueRange(done).drop_front(2));
  similar.h = upperTriangle(similar.h);
  return similar;
}

/// The eigenvectors of triangular matrices, in columns: all at once, a row of them in each step. Columns are
/// made smaller before they could grow out of range.
Elements triangularVectors(const Elements &triangles) {
  Context &cx = triangles.maker();
  mlir::Value count = cx.sizeTensor(cx.size(triangles, 1), DType::I32);
  Values state = {triangles, identity(cx, cx.shape(triangles), Context::dtype(triangles)), count};
  Values done = repeatTimes(cx, count, state, [&](mlir::Value step, const Values &now) {
    Elements t(cx, now[0]), x(cx, now[1]), steps(cx, now[2]);
    Elements number = shifted(steps - Elements(cx, step), -1);
    Elements rows = rowsOf(cx, t), columns = columnsOf(cx, t), i = everywhere(number, rows);
    Elements row = takeAlong(t, equal(rows, i), 1);
    Elements places = placesOf(cx, row), at = everywhere(number, places);
    Elements behind = (places > at).select(row, 0.0);
    Elements sum(cx, cx.dotGeneral(behind, x, /*batch=*/1, /*lhsAxis=*/1, /*rhsAxis=*/1));
    Elements own = takeAlong(row, equal(places, at), 1);
    Elements difference = takeAlong(t, equal(rows, columns), 2) - everywhere(own, row);
    Elements least = difference.constant(epsilonOf(Context::dtype(t)));
    difference = (magnitude(difference) > epsilonOf(Context::dtype(t))).select(difference, least);
    Elements found = (places > at).select(sum / difference, equal(places, at).select(1.0, row.constant(0.0)));
    Elements next = equal(rows, i).select(byColumn(found, x), x);
    Elements size = magnitude(found);
    Elements divisor = convertedLike(maximum(size, 1.0), found);
    return Values{t, next / byColumn(divisor, next), steps};
  });
  return {cx, done[1]};
}

/// The greatest magnitude of each matrix is made 1. Gives what they were divided by, [batch].
Elements normalized(Elements &matrices) {
  Elements scale = convertedLike(scaleOf(greatestAlong(magnitude(matrices), {1, 2})), matrices);
  matrices = matrices / everywhere(scale, matrices);
  return scale;
}

Result<Values> eig(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  bool withVectors = cx.resultCount() > 1;
  if (hasNoElements(cx.shape(self))) {
    Values results;
    for (size_t i = 0; i < cx.resultCount(); ++i)
      results.push_back(cx.full(0.0, cx.resultType(i).dtype, cx.resultType(i).shape));
    return results;
  }
  Dims batch = batchOf(cx, self);
  Elements matrices = toMatrices(cx, cx.convert(self, cx.resultType().dtype));
  Elements scale = normalized(matrices);
  Similar schur = schurForm(hessenberg(matrices, withVectors));
  Elements values = diagonalOf(schur.h);
  Values results = {fromMatrices(cx, values * everywhere(scale, values), batch)};
  if (!withVectors)
    return results;
  Elements vectors = product(*schur.z, triangularVectors(schur.h));
  Elements lengths = sqrt(sumAlong(magnitude(vectors) * magnitude(vectors), 1));
  vectors = vectors / byColumn(convertedLike(lengths, vectors), vectors);
  results.push_back(fromMatrices(cx, vectors, batch));
  return results;
}

} // namespace

void addEigenvalues(OpTable &table) {
  table.add("aten::linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)", eig);
  table.add("aten::linalg_eigvals(Tensor self) -> Tensor", eig);
  table.add("aten::_linalg_eigvals(Tensor self) -> Tensor", eig);
}

} // namespace torchere::lowering
