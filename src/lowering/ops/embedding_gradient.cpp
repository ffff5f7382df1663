// The gradients of embeddings, alone and in bags: each gives to the rows of the table that were looked up.
#include "lowering/elementwise.h"
#include "lowering/embedding_bags.h"
#include "lowering/op_table.h"
#include "lowering/placement.h"
#include "lowering/segments.h"

#include <limits>

namespace torchere::lowering {

namespace {

using Direction = stablehlo::ComparisonDirection;

/// A number for each looked up row, beside each element of it.
mlir::Value beside(Context &cx, mlir::Value numbers, mlir::Value rows) {
  return cx.broadcastInDim(cx.convert(numbers, Context::dtype(rows)), cx.shape(rows), {0});
}

/// How often the index at each place comes in all.
mlir::Value frequencies(Context &cx, mlir::Value indices, Dim tableSize) {
  mlir::Value ones = cx.full(int64_t{1}, DType::I64, cx.shape(indices));
  mlir::Value counts = scatterSlices(cx, cx.full(int64_t{0}, DType::I64, {tableSize}),
                                     slicesAlong(cx, indices, 0), ones, combineUpdate<stablehlo::AddOp>);
  return gatherSlices(cx, counts, slicesAlong(cx, indices, 0));
}

/// Indices of which those of the padding, if there is one, are outside of any table: a scatter leaves them
/// out.
mlir::Value withoutPadding(Context &cx, mlir::Value indices, int64_t padding) {
  if (padding < 0)
    return indices;
  bool isLong = Context::dtype(indices) == DType::I64;
  int64_t outside =
      isLong ? std::numeric_limits<int64_t>::max() : int64_t(std::numeric_limits<int32_t>::max());
  mlir::Value isPadding = cx.compare(Direction::EQ, indices, cx.fullLike(padding, indices));
  return cx.select(isPadding, cx.fullLike(outside, indices), indices);
}

/// Adds rows to those of an empty table that `indices` name, but for the padding; divided by how often the
/// index comes if that is asked for.
mlir::Value addToTable(Context &cx, const Args &args, mlir::Value rows, mlir::Value indices) {
  const TensorType &type = cx.resultType();
  if (args.boolean("scale_grad_by_freq"))
    rows =
        cx.elementwise<stablehlo::DivOp>({rows, beside(cx, frequencies(cx, indices, type.shape[0]), rows)});
  indices = withoutPadding(cx, indices, args.integer("padding_idx"));
  mlir::Value table = scatterSlices(cx, cx.full(0.0, Context::dtype(rows), type.shape),
                                    slicesAlong(cx, indices, 0), rows, combineUpdate<stablehlo::AddOp>);
  return cx.convert(table, type.dtype);
}

mlir::Value embeddingBackward(Context &cx, const Args &args) {
  const TensorType &type = cx.resultType();
  mlir::Value indices = args.tensor("indices");
  Dim count = cx.product(cx.shape(indices));
  mlir::Value rows =
      cx.reshape(cx.convert(args.tensor("grad_output"), computeType(type.dtype)), {count, type.shape[1]});
  return addToTable(cx, args, rows, cx.reshape(indices, {count}));
}

/// Each bag's gradient goes, element by element, to the row whose element was the maximum.
mlir::Value maximumBackward(Context &cx, const Args &args, mlir::Value gradient) {
  const TensorType &type = cx.resultType();
  mlir::Value sizes = args.tensor("bag_size");
  mlir::Value isEmpty = cx.compare(Direction::EQ, sizes, cx.fullLike(int64_t{0}, sizes));
  gradient =
      cx.select(cx.broadcastInDim(isEmpty, cx.shape(gradient), {0}), cx.fullLike(0.0, gradient), gradient);
  Placement placement = elementsAlong(cx, args.tensor("maximum_indices"), 0);
  mlir::Value table = scatterSlices(cx, cx.full(0.0, Context::dtype(gradient), type.shape), placement,
                                    gradient, combineUpdate<stablehlo::AddOp>);
  return cx.convert(table, type.dtype);
}

Result<mlir::Value> bagBackward(Context &cx, const Args &args) {
  if (args.has("sparse") && args.boolean("sparse"))
    return cx.unimplemented("sparse gradients are not supported: got sparse=True, expected False");
  mlir::Value gradient = cx.convert(args.tensor("grad"), computeType(cx.resultType().dtype));
  if (args.integer("mode") == BagMode::Max)
    return maximumBackward(cx, args, gradient);
  mlir::Value indices = args.tensor("indices");
  mlir::Value bags = args.has("offsets") ? segmentsOf(cx, args.tensor("offsets"), cx.size(indices, 0))
                                         : args.tensor("offset2bag");
  mlir::Value rows = gatherSlices(cx, gradient, slicesAlong(cx, bags, 0));
  if (args.integer("mode") == BagMode::Mean) {
    mlir::Value sizes = gatherSlices(cx, args.tensor("bag_size"), slicesAlong(cx, bags, 0));
    sizes = cx.elementwise<stablehlo::MaxOp>({sizes, cx.fullLike(int64_t{1}, sizes)});
    rows = cx.elementwise<stablehlo::DivOp>({rows, beside(cx, sizes, rows)});
  }
  if (auto factors = args.optionalTensor("per_sample_weights"))
    rows = cx.elementwise<stablehlo::MulOp>({rows, beside(cx, *factors, rows)});
  return addToTable(cx, args, rows, indices);
}

/// The product of each looked up row with the gradient of its bag.
mlir::Value factorsBackward(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  DType compute = computeType(dtype);
  mlir::Value indices = args.tensor("indices");
  mlir::Value bags = segmentsOf(cx, args.tensor("offsets"), cx.size(indices, 0));
  mlir::Value gradient = cx.convert(gatherSlices(cx, args.tensor("grad"), slicesAlong(cx, bags, 0)), compute);
  mlir::Value rows =
      cx.convert(gatherSlices(cx, args.tensor("weight"), slicesAlong(cx, indices, 0)), compute);
  mlir::Value products = cx.elementwise<stablehlo::MulOp>({gradient, rows});
  mlir::Value sums = cx.reduceWith<stablehlo::AddOp>(products, cx.constant(0.0, compute), {1});
  mlir::Value isCounted =
      cx.compare(Direction::NE, indices, cx.fullLike(args.integer("padding_idx"), indices));
  return cx.convert(cx.select(isCounted, sums, cx.fullLike(0.0, sums)), dtype);
}

} // namespace

void addEmbeddingGradient(OpTable &table) {
  table.add("aten::embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, "
            "int padding_idx, bool scale_grad_by_freq) -> Tensor",
            embeddingBackward);
  table.add("aten::_embedding_bag_backward(Tensor grad, Tensor indices, Tensor offsets, Tensor offset2bag, "
            "Tensor bag_size, Tensor maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, "
            "bool sparse, Tensor? per_sample_weights, int padding_idx=-1) -> Tensor",
            bagBackward);
  table.add("aten::_embedding_bag_dense_backward(Tensor grad, Tensor indices, Tensor offset2bag, "
            "Tensor bag_size, Tensor maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, "
            "Tensor? per_sample_weights, int padding_idx=-1) -> Tensor",
            bagBackward);
  table.add("aten::_embedding_bag_per_sample_weights_backward(Tensor grad, Tensor weight, Tensor indices, "
            "Tensor offsets, Tensor offset2bag, int mode, int padding_idx=-1) -> Tensor",
            factorsBackward);
}

} // namespace torchere::lowering
