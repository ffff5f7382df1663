// Bags of embeddings: rows of a table that are summed, averaged or maximized by bag.
#include "lowering/elementwise.h"
#include "lowering/embedding_bags.h"
#include "lowering/op_table.h"
#include "lowering/placement.h"
#include "lowering/segments.h"

namespace torchere::lowering {

namespace {

using Direction = stablehlo::ComparisonDirection;

/// Adds up what `values` hold for each bag, or takes the extreme.
template <class Op>
mlir::Value foldBags(Context &cx, mlir::Value values, mlir::Value bags, mlir::Value initial, Dim count) {
  Dims shape = cx.shape(values);
  shape[0] = count;
  return scatterSlices(cx, cx.broadcastTo(initial, shape), slicesAlong(cx, bags, 0), values,
                       combineUpdate<Op>);
}

/// A vector over rows, beside each element of them.
mlir::Value overRows(Context &cx, mlir::Value vector, mlir::Value like) {
  return cx.broadcastInDim(vector, cx.shape(like), {0});
}

struct Bags {
  mlir::Value rows;    ///< [indices, width], as they count: weighted, in the type to compute in
  mlir::Value bags;    ///< [indices], i64
  mlir::Value counted; ///< the same; of padding none, the number behind the last bag
  mlir::Value sizes;   ///< [bags], i64, without padding
  Dim count;           ///< of bags
};

/// The row of the table that counts as padding, as a 0-d tensor; none if there is none. Of the overload
/// without a default, -1 means the last row, and None that there is none.
mlir::Value paddingRow(Context &cx, const Args &args, mlir::Value weight, DType dtype) {
  int64_t row = args.optionalInteger("padding_idx").value_or(-1);
  if (row >= 0)
    return cx.constant(row, dtype);
  bool countsFromEnd = cx.opName() == "aten.embedding_bag.padding_idx" && !args.isNone("padding_idx");
  return countsFromEnd ? cx.sizeTensor(cx.add(cx.size(weight, 0), row), dtype) : mlir::Value();
}

Bags gatherBags(Context &cx, const Args &args) {
  Bags bags;
  mlir::Value weight = args.tensor("weight");
  mlir::Value indices = args.tensor("indices");
  DType compute = computeType(Context::dtype(weight));
  bags.count = cx.resultType().shape[0];
  bags.bags = segmentsOf(cx, args.tensor("offsets"), cx.size(indices, 0));
  bags.rows = cx.convert(gatherSlices(cx, weight, slicesAlong(cx, indices, 0)), compute);
  if (auto factors = args.optionalTensor("per_sample_weights"))
    bags.rows =
        cx.elementwise<stablehlo::MulOp>({bags.rows, overRows(cx, cx.convert(*factors, compute), bags.rows)});
  bags.counted = bags.bags;
  if (mlir::Value padding = paddingRow(cx, args, weight, Context::dtype(indices))) {
    mlir::Value isCounted = cx.compare(Direction::NE, indices, cx.broadcastTo(padding, cx.shape(indices)));
    mlir::Value none = cx.broadcastTo(cx.sizeTensor(bags.count), cx.shape(bags.bags));
    bags.counted = cx.select(isCounted, bags.bags, none);
  }
  bags.sizes = foldBags<stablehlo::AddOp>(cx, cx.fullLike(int64_t{1}, bags.bags), bags.counted,
                                          cx.constant(int64_t{0}, DType::I64), bags.count);
  return bags;
}

mlir::Value sumOfBags(Context &cx, const Bags &bags) {
  mlir::Value zero = cx.constant(0.0, Context::dtype(bags.rows));
  return foldBags<stablehlo::AddOp>(cx, bags.rows, bags.counted, zero, bags.count);
}

mlir::Value meanOfBags(Context &cx, const Bags &bags) {
  mlir::Value sum = sumOfBags(cx, bags);
  mlir::Value atLeastOne =
      cx.elementwise<stablehlo::MaxOp>({bags.sizes, cx.fullLike(int64_t{1}, bags.sizes)});
  return cx.elementwise<stablehlo::DivOp>(
      {sum, overRows(cx, cx.convert(atLeastOne, Context::dtype(sum)), sum)});
}

struct Extremes {
  mlir::Value values;  ///< [bags, width]; 0 for an empty bag
  mlir::Value indices; ///< which row of the table gives each, i64; 0 for an empty bag
};

Extremes maximumOfBags(Context &cx, const Bags &bags, mlir::Value indices) {
  mlir::Value lowest = cx.lowest(Context::elementType(bags.rows));
  mlir::Value highest = foldBags<stablehlo::MaxOp>(cx, bags.rows, bags.counted, lowest, bags.count);
  mlir::Value isEmpty =
      overRows(cx, cx.compare(Direction::EQ, bags.sizes, cx.fullLike(int64_t{0}, bags.sizes)), highest);
  // The first place in the bag where the maximum stands.
  mlir::Value own = gatherSlices(cx, highest, slicesAlong(cx, bags.bags, 0));
  mlir::Value isHighest = cx.compare(Direction::EQ, bags.rows, own);
  mlir::Value places = cx.iota(cx.shape(bags.rows), DType::I64, 0);
  mlir::Value none = cx.highest(Context::elementType(places));
  mlir::Value candidates = cx.select(isHighest, places, cx.broadcastTo(none, cx.shape(places)));
  mlir::Value first = foldBags<stablehlo::MinOp>(cx, candidates, bags.counted, none, bags.count);
  mlir::Value zero = cx.fullLike(int64_t{0}, first);
  mlir::Value row = zero;
  if (!cx.size(indices, 0).is(0))
    row = gatherSlices(cx, cx.convert(indices, DType::I64),
                       slicesAlong(cx, cx.select(isEmpty, zero, first), 0));
  return {cx.select(isEmpty, cx.fullLike(0.0, highest), highest), cx.select(isEmpty, zero, row)};
}

/// The output, and what a gradient needs: each index's bag, the sizes of the bags, and the rows of maxima.
/// The program's types say which of them are kept.
Result<Values> embeddingBag(Context &cx, const Args &args) {
  mlir::Value indices = args.tensor("indices");
  if (Context::rank(indices) != 1)
    return cx.unimplemented("indices of {} dimensions are not supported: expected 1", Context::rank(indices));
  int64_t mode = args.integer("mode");
  Bags bags = gatherBags(cx, args);
  mlir::Value output, rows;
  if (mode == BagMode::Sum) {
    output = sumOfBags(cx, bags);
  } else if (mode == BagMode::Mean) {
    output = meanOfBags(cx, bags);
  } else if (mode == BagMode::Max) {
    Extremes extremes = maximumOfBags(cx, bags, indices);
    output = extremes.values;
    rows = extremes.indices;
  } else {
    return cx.invalid("unknown mode: got {}, expected 0 (sum), 1 (mean) or 2 (max)", mode);
  }
  auto kept = [&](mlir::Value value, size_t index) {
    const TensorType &type = cx.resultType(index);
    bool isKept = value && cx.shape(value) == type.shape;
    return isKept ? cx.convert(value, type.dtype) : cx.full(int64_t{0}, type.dtype, type.shape);
  };
  return Values{cx.convert(output, cx.resultType().dtype), kept(bags.bags, 1), kept(bags.sizes, 2),
                kept(rows, 3)};
}

} // namespace

void addEmbeddingBag(OpTable &table) {
#define TORCHERE_BAG_ARGUMENTS                                                                               \
  "Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, "               \
  "bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1"
  table.add("aten::_embedding_bag(" TORCHERE_BAG_ARGUMENTS ") -> (Tensor, Tensor, Tensor, Tensor)",
            embeddingBag);
  table.add("aten::_embedding_bag_forward_only(" TORCHERE_BAG_ARGUMENTS
            ") -> (Tensor, Tensor, Tensor, Tensor)",
            embeddingBag);
#undef TORCHERE_BAG_ARGUMENTS
  table.add("aten::embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, "
            "bool scale_grad_by_freq, int mode, bool sparse, Tensor? per_sample_weights, "
            "bool include_last_offset, int? padding_idx) -> (Tensor, Tensor, Tensor, Tensor)",
            embeddingBag);
}

} // namespace torchere::lowering
