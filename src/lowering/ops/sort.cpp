// Ops that order elements or search in sorted ones: sort, topk, median, searchsorted.
#include "lowering/op_table.h"
#include "lowering/placement.h"
#include "lowering/promotion.h"
#include "lowering/region.h"

#include <numeric>

namespace torchere::lowering {

namespace {

using Direction = stablehlo::ComparisonDirection;

/// Whether `lhs` precedes `rhs`: NaN is greater than every number, as in torch.
mlir::Value comesBefore(Context &cx, mlir::Value lhs, mlir::Value rhs, bool descending) {
  mlir::Value before = cx.compare(descending ? Direction::GT : Direction::LT, lhs, rhs);
  if (!dtypeInfo(Context::dtype(lhs)).isFloatingPoint)
    return before;
  mlir::Value greater = descending ? lhs : rhs;
  mlir::Value less = descending ? rhs : lhs;
  mlir::Value isNan = cx.compare(Direction::NE, greater, greater);
  mlir::Value isNumber = cx.compare(Direction::EQ, less, less);
  return cx.elementwise<stablehlo::OrOp>({before, cx.elementwise<stablehlo::AndOp>({isNan, isNumber})});
}

/// The sorted elements and their original positions.
Values sortAlong(Context &cx, mlir::Value value, int64_t axis, bool descending) {
  mlir::Value places = cx.iota(cx.shape(value), DType::I64, axis);
  return sortTogether(cx, {value, places}, axis, [&](mlir::ValueRange elements) {
    return Values{comesBefore(cx, elements[0], elements[1], descending)};
  });
}

Values ofZeroDimensions(Context &cx, mlir::Value self) {
  return {self, cx.full(int64_t{0}, DType::I64, {})};
}

Result<Values> sort(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), Context::rank(self)));
  if (Context::rank(self) == 0)
    return ofZeroDimensions(cx, self);
  return sortAlong(cx, self, axis, args.boolean("descending"));
}

/// The first k elements, sorted whether or not the op asks for it.
Result<Values> topk(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), Context::rank(self)));
  if (Context::rank(self) == 0)
    return ofZeroDimensions(cx, self);
  Values sorted = sortAlong(cx, self, axis, args.boolean("largest"));
  for (mlir::Value &value : sorted)
    value = cx.sliceAxis(value, axis, 0, args.dim("k"));
  return sorted;
}

/// Element `place` of each sorted row, and its original position; `place` has the rows' shape, with size 1 on
/// the axis.
Values takeSorted(Context &cx, const Values &sorted, int64_t axis, mlir::Value place) {
  Values results;
  for (mlir::Value value : sorted) {
    mlir::Value taken = gatherSlices(cx, value, elementsAlong(cx, place, axis));
    results.push_back(cx.reshape(taken, cx.resultType(results.size()).shape));
  }
  return results;
}

/// The k-th smallest element, counted from 1; NaN is greater than every number.
Result<Values> kthValue(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), Context::rank(self)));
  if (Context::rank(self) == 0)
    return ofZeroDimensions(cx, self);
  Dims rows = cx.shape(self);
  rows[axis] = 1;
  mlir::Value place = cx.broadcastTo(cx.sizeTensor(cx.subtract(args.dim("k"), 1)), rows);
  return takeSorted(cx, sortAlong(cx, self, axis, /*descending=*/false), axis, place);
}

/// The lower of the middle elements; if there is a NaN, the first one.
Values medianAlong(Context &cx, mlir::Value self, int64_t axis) {
  Dims rows = cx.shape(self);
  Dim middle = cx.floorDivide(cx.subtract(rows[axis], 1), 2);
  rows[axis] = 1;
  mlir::Value place = cx.broadcastTo(cx.sizeTensor(middle), rows);
  if (dtypeInfo(Context::dtype(self)).isFloatingPoint) {
    mlir::Value isNumber = cx.convert(cx.compare(Direction::EQ, self, self), DType::I64);
    mlir::Value zero = cx.constant(int64_t{0}, DType::I64);
    mlir::Value numbers = cx.reshape(cx.reduceWith<stablehlo::AddOp>(isNumber, zero, {axis}), rows);
    mlir::Value all = cx.broadcastTo(cx.sizeTensor(cx.size(self, axis)), rows);
    place = cx.select(cx.compare(Direction::LT, numbers, all), numbers, place);
  }
  return takeSorted(cx, sortAlong(cx, self, axis, /*descending=*/false), axis, place);
}

Result<Values> median(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), Context::rank(self)));
  return Context::rank(self) == 0 ? ofZeroDimensions(cx, self) : medianAlong(cx, self, axis);
}

/// The number of elements of each sorted row before a value: before the first that is not less, or (right)
/// before the first that is greater.
Result<mlir::Value> searchSorted(Context &cx, const Args &args) {
  mlir::Value sequence = args.tensor("sorted_sequence");
  mlir::Value values = args.tensor("self");
  if (Context::dtype(sequence) != Context::dtype(values)) {
    DType dtype = promoteTypes(Context::dtype(sequence), Context::dtype(values));
    sequence = cx.convert(sequence, dtype);
    values = cx.convert(values, dtype);
  }
  auto sorter = args.optionalTensor("sorter");
  if (sorter && !cx.shape(sequence).back().is(0)) // an empty row has nothing to gather
    sequence = gatherSlices(cx, sequence, elementsAlong(cx, *sorter, Context::rank(sequence) - 1));
  auto side = args.optionalString("side");
  bool isRight = args.boolean("right") || side == "right";
  // Every value next to every element of its row.
  Dims shape = cx.shape(values);
  Dims pairs = shape;
  pairs.push_back(cx.shape(sequence).back());
  auto rank = static_cast<int64_t>(shape.size());
  Integers own(rank);
  std::iota(own.begin(), own.end(), 0);
  Integers ofSequence(own.begin(), own.begin() + (Context::rank(sequence) - 1));
  ofSequence.push_back(rank);
  mlir::Value stops =
      cx.compare(isRight ? Direction::GT : Direction::GE, cx.broadcastInDim(sequence, pairs, ofSequence),
                 cx.broadcastInDim(values, pairs, own));
  mlir::Value before = cx.convert(cx.elementwise<stablehlo::NotOp>(stops), DType::I64);
  mlir::Value count = cx.reduceWith<stablehlo::AddOp>(before, cx.constant(int64_t{0}, DType::I64), {rank});
  return cx.convert(count, cx.resultType().dtype);
}

} // namespace

void addSort(OpTable &table) {
  table.add("aten::sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
            sort);
  table.add("aten::sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) "
            "-> (Tensor values, Tensor indices)",
            sort);
  table.add("aten::topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) "
            "-> (Tensor values, Tensor indices)",
            topk);
  table.add("aten::kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) "
            "-> (Tensor values, Tensor indices)",
            kthValue);
  table.add("aten::median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
            median);
  table.add("aten::searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, "
            "bool right=False, str? side=None, Tensor? sorter=None) -> Tensor",
            searchSorted);
}

} // namespace torchere::lowering
