// Ops that keep one of each group of equal elements: unique, and its forms.
#include "lowering/op_table.h"
#include "lowering/placement.h"
#include "lowering/region.h"
#include "lowering/scan.h"
#include "lowering/selection.h"
#include "lowering/sorting.h"

namespace torchere::lowering {

namespace {

using Direction = stablehlo::ComparisonDirection;

/// Rows in an order in which equal ones are neighbours, and where each of them stood.
struct Arranged {
  mlir::Value rows;   ///< [rows, elements]
  mlir::Value places; ///< [rows]
};

/// Of which rows the one before is another one, or none.
mlir::Value differsFromPrevious(Context &cx, mlir::Value rows) {
  mlir::Value place = cx.iota({cx.size(rows, 0)}, DType::I64, 0);
  mlir::Value one = cx.fullLike(int64_t{1}, place), zero = cx.fullLike(int64_t{0}, place);
  mlir::Value before =
      cx.elementwise<stablehlo::MaxOp>({cx.elementwise<stablehlo::SubtractOp>({place, one}), zero});
  mlir::Value previous = gatherSlices(cx, rows, slicesAlong(cx, before, 0));
  mlir::Value differs = cx.reduceWith<stablehlo::OrOp>(cx.compare(Direction::NE, rows, previous),
                                                       cx.constant(false, DType::Bool), {1});
  return cx.elementwise<stablehlo::OrOp>({differs, cx.compare(Direction::EQ, place, zero)});
}

/// The first row of each group, to which group the row at each place belongs, and how large the groups are.
Values groups(Context &cx, const Arranged &arranged) {
  Dim count = cx.size(arranged.rows, 0);
  mlir::Value rows = atLeastOne(cx, arranged.rows, 0);
  mlir::Value isFirst = cx.sliceAxis(differsFromPrevious(cx, rows), 0, 0, count);
  mlir::Value firsts = placesOfSet(cx, isFirst);
  mlir::Value begun = partialSums(cx, cx.convert(isFirst, DType::I64));
  mlir::Value ones = cx.fullLike(int64_t{1}, begun);
  mlir::Value group = cx.elementwise<stablehlo::SubtractOp>({begun, ones});
  mlir::Value inverse = scatterSlices(cx, cx.fullLike(int64_t{0}, group), slicesAlong(cx, arranged.places, 0),
                                      group, takeUpdate);
  mlir::Value counts = scatterSlices(cx, cx.full(int64_t{0}, DType::I64, cx.shape(firsts)),
                                     slicesAlong(cx, group, 0), ones, combineUpdate<stablehlo::AddOp>);
  return {gatherSlices(cx, rows, slicesAlong(cx, firsts, 0)), inverse, counts};
}

/// The results; those of which the program says so are empty, whatever was found.
Values asResults(Context &cx, mlir::Value values, const Values &found, Dims inverse) {
  Values results = {values, cx.reshape(found[1], inverse), found[2]};
  for (size_t i = 1; i < results.size(); ++i) {
    const Dims &shape = cx.resultType(i).shape;
    if (llvm::any_of(shape, [](const Dim &dim) { return dim.is(0); }))
      results[i] = cx.full(int64_t{0}, DType::I64, shape);
  }
  return results;
}

mlir::Value asColumn(Context &cx, mlir::Value flat) {
  return cx.reshape(flat, {cx.size(flat, 0), 1});
}

Values uniqueElements(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  Values sorted = sortAlong(cx, flattened(cx, self), 0, /*descending=*/false);
  Values found = groups(cx, {asColumn(cx, sorted[0]), sorted[1]});
  return asResults(cx, flattened(cx, found[0]), found, cx.shape(self));
}

/// The slices of a dimension as rows, in row-major order of the other dimensions.
struct Slices {
  mlir::Value rows;
  Dims shape; ///< of the tensor, the dimension first
  int64_t axis;
};

Result<Slices> slicesOf(Context &cx, mlir::Value self, int64_t dim) {
  TORCHERE_ASSIGN(int64_t axis, cx.axis(dim, Context::rank(self)));
  Integers order = {axis};
  for (int64_t i = 0; i < Context::rank(self); ++i)
    if (i != axis)
      order.push_back(i);
  mlir::Value moved = cx.transpose(self, order);
  Dims shape = cx.shape(moved);
  return Slices{cx.reshape(moved, {shape[0], cx.product(llvm::ArrayRef(shape).drop_front())}), shape, axis};
}

mlir::Value asTensor(Context &cx, mlir::Value rows, Slices slices) {
  slices.shape[0] = cx.size(rows, 0);
  Integers order;
  for (size_t i = 1; i < slices.shape.size(); ++i)
    order.push_back(static_cast<int64_t>(i));
  order.insert(order.begin() + slices.axis, 0);
  return cx.transpose(cx.reshape(rows, slices.shape), order);
}

/// The order of rows: sorted by each element in turn, from the last one to the first.
mlir::Value orderOfRows(Context &cx, mlir::Value rows) {
  Dim width = cx.size(rows, 1);
  mlir::Value places = cx.iota({cx.size(rows, 0)}, DType::I64, 0);
  if (width.is(0))
    return places;
  mlir::Value last = cx.sizeTensor(cx.subtract(width, 1), DType::I32);
  return repeatTimes(
      cx, cx.sizeTensor(width, DType::I32), {places, rows, last}, [&](mlir::Value step, const Values &state) {
        mlir::Value column = cx.elementwise<stablehlo::SubtractOp>({state[2], step});
        mlir::Value sorted = gatherSlices(cx, state[1], slicesAlong(cx, state[0], 0));
        mlir::Value key = gatherSlices(cx, sorted, slicesAlong(cx, cx.reshape(column, {Dim(1)}), 1));
        Values next = sortedBy(cx, flattened(cx, key), state[0], 0, /*descending=*/false);
        return Values{next[1], state[1], state[2]};
      })[0];
}

Result<Values> uniqueSlices(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  TORCHERE_ASSIGN(Slices slices, slicesOf(cx, self, args.integer("dim")));
  mlir::Value order = orderOfRows(cx, slices.rows);
  mlir::Value sorted = gatherSlices(cx, atLeastOne(cx, slices.rows, 0), slicesAlong(cx, order, 0));
  Values found = groups(cx, {sorted, order});
  return asResults(cx, asTensor(cx, found[0], slices), found, {slices.shape[0]});
}

Result<Values> uniqueNeighbours(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  std::optional<int64_t> dim = args.optionalInteger("dim");
  if (dim && *dim < 0)
    return cx.unimplemented("torch captures a dimension below 0 as another one: got {}, expected {}", *dim,
                            *dim + Context::rank(self));
  Slices slices = {asColumn(cx, flattened(cx, self)), {}, 0};
  if (dim) {
    TORCHERE_ASSIGN(slices, slicesOf(cx, self, *dim));
  }
  Values found = groups(cx, {slices.rows, cx.iota({cx.size(slices.rows, 0)}, DType::I64, 0)});
  if (!dim)
    return asResults(cx, flattened(cx, found[0]), found, cx.shape(self));
  return asResults(cx, asTensor(cx, found[0], slices), found, {slices.shape[0]});
}

} // namespace

void addUnique(OpTable &table) {
  table.addSizedByData("aten::_unique2(Tensor self, bool sorted=True, bool return_inverse=False, "
                       "bool return_counts=False) -> (Tensor, Tensor, Tensor)",
                       uniqueElements);
  table.addSizedByData("aten::unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, "
                       "bool return_counts=False) -> (Tensor, Tensor, Tensor)",
                       uniqueSlices);
  table.addSizedByData("aten::unique_consecutive(Tensor self, bool return_inverse=False, "
                       "bool return_counts=False, int? dim=None) -> (Tensor, Tensor, Tensor)",
                       uniqueNeighbours);
}

} // namespace torchere::lowering
