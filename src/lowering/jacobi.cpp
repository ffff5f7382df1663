// Eigenvalues and singular values: sweeps of rotations, until nothing is left to rotate.
//
// In step r of a sweep every index i meets (r - i) mod n, so that n steps bring each pair together once, and
// the rotations of a step touch different pairs: one step is one elementwise formula on the whole matrix. An
// index that meets itself stays. Rounding errors do not add up over the sweeps: each begins with a product of
// the matrix itself and the rotations so far, which are made orthogonal again.
#include "lowering/jacobi.h"

#include "lowering/householder.h"
#include "lowering/placement.h"
#include "lowering/region.h"

#include <limits>

namespace torchere::lowering {

namespace {

/// Sweeps converge quadratically; ten are many. This many are made of what does not converge.
constexpr int64_t mostSweeps = 30;

/// What `body` makes of matrices, as the results of a loop that runs once, which is marked with what it
/// computes. `results` have their shapes.
Values computeMarked(const Elements &matrices, const Values &results, llvm::StringRef computes,
                     llvm::function_ref<Values(const Elements &)> body) {
  Context &cx = matrices.maker();
  Values state = results;
  state.push_back(matrices);
  mlir::Value once = cx.constant(int64_t{1}, DType::I32);
  auto turn = [&](mlir::Value, const Values &now) {
    Values made = body({cx, now.back()});
    made.push_back(now.back());
    return made;
  };
  Values done = repeatTimes(cx, once, state, turn, computes);
  done.pop_back();
  return done;
}

/// Repeats sweeps for as long as the measure that they give, a 0-d number, is above the tolerance.
Values repeatSweeps(Context &cx, const Values &values, const Elements &tolerance,
                    llvm::function_ref<Values(const Values &)> sweep) {
  Values state = {cx.constant(int64_t{0}, DType::I32), tolerance,
                  cx.highest(Context::elementType(tolerance))};
  state.append(values);
  auto condition = [&](mlir::ValueRange now) {
    Elements count(cx, now[0]), limit(cx, now[1]), measure(cx, now[2]);
    return Values{both(measure > limit, count < count.constant(mostSweeps))};
  };
  auto body = [&](mlir::ValueRange now) {
    Elements count(cx, now[0]);
    Values results = {count + count.constant(int64_t{1}), now[1]};
    results.append(sweep(Values(now.begin() + 3, now.end())));
    return results;
  };
  Values done = repeatWhile(cx, state, condition, body);
  return Values(done.begin() + 3, done.end());
}

/// Whom each index meets in a step: [n].
Elements partnersOf(Context &cx, const Elements &step, Dim count) {
  Elements places(cx, cx.iota({count}, DType::I32, 0));
  Elements difference = everywhere(step, places) - places;
  Elements size(cx, cx.broadcastTo(cx.sizeTensor(count, DType::I32), cx.shape(places)));
  return (difference < difference.constant(int64_t{0})).select(difference + size, difference);
}

/// The rows (columns) in the order of the index, [n].
Elements reordered(const Elements &value, const Elements &index, int64_t axis) {
  Context &cx = value.maker();
  if (hasNoElements(cx.shape(value))) // there is nothing to gather from
    return value;
  return value.with(gatherSlices(cx, value, slicesAlong(cx, index, axis)));
}

/// Row i becomes cosine[i] row i - sine[i] row partner[i]: what makes the entry (i, partner) of a Hermitian
/// matrix zero.
struct Rotation {
  Elements cosine; ///< [batch, n], as is the sine, of the matrices' type
  Elements sine;
};

/// From the diagonal, real, and the entries (i, partner[i]), both [batch, n].
Rotation rotationOf(const Elements &diagonal, const Elements &found, const Elements &partners) {
  Context &cx = found.maker();
  Elements own = placesOf(cx, found);
  Elements other(cx, cx.broadcastTo(partners, cx.shape(found)));
  // Both of a pair take the upper entry: where the two differ, if only in rounding, so would the rotations.
  Elements entries = (own < other).select(found, conjugate(reordered(found, partners, 1)));
  Elements size = magnitude(entries);
  Elements isNeeded = both(size > 0.0, notEqual(own, other));
  Elements divisor = isNeeded.select(size, 1.0);
  Elements tau = (reordered(diagonal, partners, 1) - diagonal) / (2.0 * divisor);
  // The sign of tau is opposite for both of a pair, also where tau is zero.
  Elements ofOrder = (own < other).select(1.0, tau.constant(-1.0));
  Elements sign = (tau > 0.0).select(1.0, (tau < 0.0).select(-1.0, ofOrder));
  Elements tangent = sign / (abs(tau) + sqrt(tau * tau + 1.0));
  tangent = isNeeded.select(tangent, 0.0);
  Elements cosine = 1.0 / sqrt(tangent * tangent + 1.0);
  Elements phase = entries / convertedLike(divisor, entries);
  return {convertedLike(cosine, entries), convertedLike(tangent * cosine, entries) * phase};
}

Elements rotateRows(const Elements &matrices, const Elements &cosine, const Elements &sine,
                    const Elements &partners) {
  return byRow(cosine, matrices) * matrices - byRow(sine, matrices) * reordered(matrices, partners, 1);
}

/// Divides matrices by their greatest magnitudes, so that no square is out of range. Gives these, [batch].
Elements normalize(Elements &matrices) {
  Elements scale = scaleOf(greatestAlong(magnitude(matrices), {1, 2}));
  matrices = matrices / everywhere(convertedLike(scale, matrices), matrices);
  return scale;
}

/// Columns that are orthonormal but for rounding errors, made so to the last digits by a step of Newton's.
Elements orthonormalized(const Elements &columns) {
  Context &cx = columns.maker();
  Elements overlap = product(adjoint(columns), columns);
  Elements threes = identity(cx, cx.shape(overlap), Context::dtype(overlap)) * 3.0;
  return product(columns, (threes - overlap) * 0.5);
}

/// The numbers where they are above zero, which NaN is not.
Elements positivePart(const Elements &numbers) {
  return (numbers > 0.0).select(numbers, 0.0);
}

/// What is off the diagonal as a part of the whole, in squares: the greatest of all matrices whose numbers
/// are finite.
Elements offDiagonalPart(const Elements &matrices) {
  Context &cx = matrices.maker();
  Elements size = magnitude(matrices);
  Elements square = size * size;
  Elements isOn = equal(rowsOf(cx, matrices), columnsOf(cx, matrices));
  Elements total = sumAlong(sumAlong(square, 2), 1);
  Elements off = sumAlong(sumAlong(isOn.select(0.0, square), 2), 1);
  return greatestAlong(positivePart(off / (total > 0.0).select(total, 1.0)), {0});
}

/// One step of a sweep over a Hermitian matrix and, in rows, its eigenvectors.
Values eigenStep(const Elements &step, const Elements &matrices, const Elements &vectors) {
  Context &cx = matrices.maker();
  Elements partners = partnersOf(cx, step, cx.size(matrices, 1));
  Elements rows = rowsOf(cx, matrices), columns = columnsOf(cx, matrices);
  Elements partnerOfRow(cx, cx.broadcastInDim(partners, cx.shape(matrices), {1}));
  Elements isMet = equal(columns, partnerOfRow);
  Elements diagonal = realPart(takeAlong(matrices, equal(rows, columns), 2));
  Rotation rotation = rotationOf(diagonal, takeAlong(matrices, isMet, 2), partners);
  Elements rotated = rotateRows(matrices, rotation.cosine, rotation.sine, partners);
  rotated = byColumn(rotation.cosine, rotated) * rotated -
            byColumn(conjugate(rotation.sine), rotated) * reordered(rotated, partners, 2);
  rotated = both(isMet, notEqual(rows, columns)).select(0.0, rotated);
  return {rotated, rotateRows(vectors, rotation.cosine, conjugate(rotation.sine), partners)};
}

/// Columns of matrices in the order that their keys, [batch, columns], ascend in, or descend.
Elements sortColumns(const Elements &keys, const Elements &matrices,
                     stablehlo::ComparisonDirection direction) {
  Context &cx = matrices.maker();
  Values sorted = sortTogether(cx, {byColumn(keys, matrices), matrices}, 2, [&](mlir::ValueRange pairs) {
    return Values{cx.compare(direction, pairs[0], pairs[1])};
  });
  return {cx, sorted[1]};
}

Elements sortNumbers(const Elements &numbers, stablehlo::ComparisonDirection direction) {
  Context &cx = numbers.maker();
  Values sorted = sortTogether(cx, {numbers}, 1, [&](mlir::ValueRange pair) {
    return Values{cx.compare(direction, pair[0], pair[1])};
  });
  return {cx, sorted[0]};
}

/// One step of a sweep that makes rows orthogonal. The measure grows to the greatest inner product that it
/// found, as a part of the longer row and of the longest one of all: what rounding makes of a short row does
/// not count.
Values orthogonalStep(const Elements &step, const Elements &measure, const Elements &rows,
                      const Elements &vectors) {
  Context &cx = rows.maker();
  Elements partners = partnersOf(cx, step, cx.size(rows, 1));
  Elements size = magnitude(rows);
  Elements squares = sumAlong(size * size, 2);
  Elements entries = sumAlong(conjugate(rows) * reordered(rows, partners, 1), 2);
  Rotation rotation = rotationOf(squares, entries, partners);
  Elements sine = conjugate(rotation.sine);
  Elements norms = sqrt(squares);
  Elements longer = maximum(norms, reordered(norms, partners, 1));
  Elements longest = everywhere(greatestAlong(norms, {1}), norms);
  Elements places = placesOf(cx, norms);
  Elements isPair = notEqual(places, places.with(cx.broadcastTo(partners, cx.shape(places))));
  Elements counts = both(isPair, longer > 0.0);
  Elements parts = magnitude(entries) / counts.select(longer, 1.0) / counts.select(longest, 1.0);
  Elements greatest = greatestAlong(positivePart(counts.select(parts, 0.0)), {0, 1});
  return {maximum(measure, greatest), rotateRows(rows, rotation.cosine, sine, partners),
          rotateRows(vectors, rotation.cosine, sine, partners)};
}

Elements transposed(const Elements &matrices) {
  return matrices.with(matrices.maker().transpose(matrices, {0, 2, 1}));
}

/// V, [batch, n, n], of which the columns of matrices times V are orthogonal, and that product: [batch, m,
/// n].
std::pair<Elements, Elements> orthogonalize(const Elements &matrices) {
  Context &cx = matrices.maker();
  Dims shape = cx.shape(matrices);
  DType real = partType(Context::dtype(matrices));
  Elements length(cx, cx.sizeTensor(cx.maximum(shape[1], shape[2]), real));
  Elements tolerance = sqrt(length) * (4 * epsilonOf(real));
  Values state = {matrices, identity(cx, {shape[0], shape[2], shape[2]}, Context::dtype(matrices))};
  Values done = repeatSweeps(cx, state, tolerance, [&](const Values &now) {
    Elements whole(cx, now[0]), v = orthonormalized({cx, now[1]});
    Values start = {cx.constant(0.0, real), transposed(product(whole, v)), transposed(v)};
    mlir::Value count = cx.sizeTensor(cx.size(v, 1), DType::I32);
    Values rotated = repeatTimes(cx, count, start, [&](mlir::Value step, const Values &each) {
      return orthogonalStep({cx, step}, {cx, each[0]}, {cx, each[1]}, {cx, each[2]});
    });
    return Values{rotated[0], whole, transposed({cx, rotated[2]})};
  });
  Elements v = orthonormalized({cx, done[1]});
  return {v, product(matrices, v)};
}

/// The norms of columns, [batch, n].
Elements normsOf(const Elements &matrices) {
  Elements size = magnitude(matrices);
  return sqrt(sumAlong(size * size, 1));
}

bool isWide(Context &cx, const Elements &matrices) {
  Dims shape = cx.shape(matrices);
  return shape[1].isConstant() && shape[2].isConstant() && shape[1].constant() < shape[2].constant();
}

EigenDecomposition rotateToEigenvalues(const Elements &matrices) {
  Context &cx = matrices.maker();
  DType real = partType(Context::dtype(matrices));
  Elements scaled = matrices;
  Elements scale = normalize(scaled);
  const double epsilon = epsilonOf(real);
  Elements length(cx, cx.sizeTensor(cx.size(matrices, 1), real));
  Values state = {scaled, identity(cx, cx.shape(matrices), Context::dtype(matrices))};
  Values done = repeatSweeps(cx, state, length * (4 * epsilon * epsilon), [&](const Values &now) {
    Elements whole(cx, now[0]), v = orthonormalized({cx, now[1]});
    Values start = {product(adjoint(v), product(whole, v)), transposed(v)};
    mlir::Value count = cx.sizeTensor(cx.size(v, 1), DType::I32);
    Values rotated = repeatTimes(cx, count, start, [&](mlir::Value step, const Values &each) {
      return eigenStep({cx, step}, {cx, each[0]}, {cx, each[1]});
    });
    return Values{offDiagonalPart({cx, rotated[0]}), whole, transposed({cx, rotated[1]})};
  });
  Elements v = orthonormalized({cx, done[1]});
  Elements values = realPart(sumAlong(conjugate(v) * product(scaled, v), 1));
  values = values * everywhere(scale, values);
  const auto ascending = stablehlo::ComparisonDirection::LT;
  return {sortNumbers(values, ascending), sortColumns(values, v, ascending)};
}

/// The rotations make V. A V has orthogonal columns, the longest first: its QR factors are U, but for signs,
/// and what is a diagonal but for rounding errors. So U is orthogonal also where singular values are zero.
SingularValueDecomposition rotateToSingularValues(const Elements &matrices, bool isFull) {
  Context &cx = matrices.maker();
  if (isWide(cx, matrices)) {
    SingularValueDecomposition turned = rotateToSingularValues(adjoint(matrices), isFull);
    return {adjoint(turned.vh), turned.values, adjoint(turned.u)};
  }
  Dims shape = cx.shape(matrices);
  DType dtype = Context::dtype(matrices);
  Dim count = cx.minimum(shape[1], shape[2]);
  Elements scaled = matrices;
  Elements scale = normalize(scaled);
  auto [rotations, columns] = orthogonalize(scaled);
  const auto descending = stablehlo::ComparisonDirection::GT;
  Elements v = sortColumns(normsOf(columns), rotations, descending);
  Reflectors reflectors = factorQr(product(scaled, v));
  Elements diagonal = realPart(diagonalOf(reflectors.packed));
  Elements u =
      applyReflectors(reflectors, identity(cx, {shape[0], shape[1], isFull ? shape[1] : count}, dtype),
                      /*isAdjoint=*/false);
  mlir::Value one = cx.constant(1.0, partType(dtype));
  Elements signs = (diagonal < 0.0).select(-1.0, diagonal.constant(1.0));
  Dim rest = cx.subtract(cx.size(u, 2), count);
  signs = {cx, cx.pad(signs, one, {Dim(0), Dim(0)}, {Dim(0), rest}, {0, 0})};
  Elements values = abs(diagonal);
  values = sortNumbers(values * everywhere(scale, values), descending);
  Elements vh = adjoint(v);
  if (!isFull)
    vh = {cx, cx.sliceAxis(vh, 1, 0, count)};
  return {u * byColumn(convertedLike(signs, u), u), values, vh};
}

Elements singularValuesAlone(const Elements &matrices) {
  Context &cx = matrices.maker();
  if (isWide(cx, matrices))
    return singularValuesAlone(adjoint(matrices));
  Dims shape = cx.shape(matrices);
  Elements scaled = matrices;
  Elements scale = normalize(scaled);
  Elements norms = normsOf(orthogonalize(scaled).second);
  Elements values = sortNumbers(norms * everywhere(scale, norms), stablehlo::ComparisonDirection::GT);
  return {cx, cx.sliceAxis(values, 1, 0, cx.minimum(shape[1], shape[2]))};
}

} // namespace

EigenDecomposition eigenDecomposition(const Elements &matrices) {
  Context &cx = matrices.maker();
  Dims shape = cx.shape(matrices);
  DType dtype = Context::dtype(matrices);
  Values results = {cx.full(0.0, partType(dtype), {shape[0], shape[1]}), cx.full(0.0, dtype, shape)};
  Values done = computeMarked(matrices, results, "eigenvectors", [](const Elements &given) {
    EigenDecomposition found = rotateToEigenvalues(given);
    return Values{found.values, found.vectors};
  });
  return {{cx, done[0]}, {cx, done[1]}};
}

Elements eigenvalues(const Elements &matrices) {
  Context &cx = matrices.maker();
  Dims shape = cx.shape(matrices);
  Values results = {cx.full(0.0, partType(Context::dtype(matrices)), {shape[0], shape[1]})};
  Values done = computeMarked(matrices, results, "eigenvalues", [](const Elements &given) {
    return Values{rotateToEigenvalues(given).values};
  });
  return {cx, done[0]};
}

SingularValueDecomposition singularValueDecomposition(const Elements &matrices, bool isFull) {
  Context &cx = matrices.maker();
  Dims shape = cx.shape(matrices);
  DType dtype = Context::dtype(matrices);
  Dim count = cx.minimum(shape[1], shape[2]);
  Values results = {cx.full(0.0, dtype, {shape[0], shape[1], isFull ? shape[1] : count}),
                    cx.full(0.0, partType(dtype), {shape[0], count}),
                    cx.full(0.0, dtype, {shape[0], isFull ? shape[2] : count, shape[2]})};
  Values done = computeMarked(matrices, results, "singular_vectors", [&](const Elements &given) {
    SingularValueDecomposition found = rotateToSingularValues(given, isFull);
    return Values{found.u, found.values, found.vh};
  });
  return {{cx, done[0]}, {cx, done[1]}, {cx, done[2]}};
}

Elements singularValues(const Elements &matrices) {
  Context &cx = matrices.maker();
  Dims shape = cx.shape(matrices);
  DType real = partType(Context::dtype(matrices));
  Values results = {cx.full(0.0, real, {shape[0], cx.minimum(shape[1], shape[2])})};
  Values done = computeMarked(matrices, results, "singular_values",
                              [](const Elements &given) { return Values{singularValuesAlone(given)}; });
  return {cx, done[0]};
}

} // namespace torchere::lowering
