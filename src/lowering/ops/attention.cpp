// Scaled dot-product attention.
#include "lowering/elements.h"
#include "lowering/elementwise.h"
#include "lowering/op_table.h"
#include "lowering/random.h"
#include "lowering/softmax.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace torchere::lowering {

namespace {

/// [..., heads, L, E] with several query heads for each key head: key heads are repeated consecutively.
Result<mlir::Value> repeatHeads(Context &cx, mlir::Value value, Dim heads) {
  Dims shape = cx.shape(value);
  size_t axis = shape.size() - 3;
  if (shape[axis] == heads)
    return value;
  if (!shape[axis].isConstant() || !heads.isConstant())
    return cx.unimplemented("numbers of heads that differ must be constant: got one known only at run time");
  int64_t repeats = heads.constant() / shape[axis].constant();
  Dims grouped = shape;
  grouped.insert(grouped.begin() + axis + 1, Dim(repeats));
  Integers mapping;
  for (size_t i = 0; i < grouped.size(); ++i)
    if (i != axis + 1)
      mapping.push_back(static_cast<int64_t>(i));
  shape[axis] = heads;
  return cx.reshape(cx.broadcastInDim(value, grouped, mapping), shape);
}

/// Adds a float mask, or -inf where a bool mask is false.
mlir::Value applyMask(Context &cx, mlir::Value scores, mlir::Value mask) {
  if (Context::dtype(mask) != DType::Bool) {
    mask = cx.broadcastTo(cx.convert(mask, Context::dtype(scores)), cx.shape(scores));
    return cx.elementwise<stablehlo::AddOp>({scores, mask});
  }
  mlir::Value masked = cx.fullLike(-std::numeric_limits<double>::infinity(), scores);
  return cx.select(cx.broadcastTo(mask, cx.shape(scores)), scores, masked);
}

/// Query i sees keys 0 to i.
mlir::Value applyCausalMask(Context &cx, mlir::Value scores) {
  Dims shape = cx.shape(scores);
  auto rank = static_cast<int64_t>(shape.size());
  mlir::Value row = cx.iota(shape, DType::I32, rank - 2);
  mlir::Value column = cx.iota(shape, DType::I32, rank - 1);
  return applyMask(cx, scores, cx.compare(stablehlo::ComparisonDirection::GE, row, column));
}

/// By the scale, or by the root of the head size.
mlir::Value scaled(Context &cx, mlir::Value query, std::optional<double> scale) {
  Dim width = cx.shape(query).back();
  if (!scale && width.isConstant())
    scale = 1.0 / std::sqrt(static_cast<double>(width.constant()));
  if (scale)
    return cx.elementwise<stablehlo::MulOp>({query, cx.fullLike(*scale, query)});
  mlir::Value root = cx.elementwise<stablehlo::SqrtOp>(cx.sizeTensor(width, DType::F64));
  mlir::Value divisor = cx.broadcastTo(cx.convert(root, Context::dtype(query)), cx.shape(query));
  return cx.elementwise<stablehlo::DivOp>({query, divisor});
}

/// [..., L, S], of the query that is scaled already.
mlir::Value weightsOf(Context &cx, const Args &args, mlir::Value query, mlir::Value key) {
  int64_t rank = Context::rank(query);
  mlir::Value scores = cx.dotGeneral(query, key, rank - 2, rank - 1, rank - 1);
  if (args.boolean("is_causal"))
    scores = applyCausalMask(cx, scores);
  if (auto mask = args.optionalTensor("attn_mask"))
    scores = applyMask(cx, scores, *mask);
  return softmaxAlong(cx, scores, rank - 1, MaskedRows::Zeros);
}

Result<mlir::Value> attention(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  DType compute = computeType(dtype);
  mlir::Value query = cx.convert(args.tensor("query"), compute);
  mlir::Value key = cx.convert(args.tensor("key"), compute);
  mlir::Value value = cx.convert(args.tensor("value"), compute);
  int64_t rank = Context::rank(query);
  if (args.boolean("enable_gqa")) {
    TORCHERE_ASSIGN(key, repeatHeads(cx, key, cx.size(query, rank - 3)));
    TORCHERE_ASSIGN(value, repeatHeads(cx, value, cx.size(query, rank - 3)));
  }
  Dims batch(cx.resultType().shape.begin(), cx.resultType().shape.end() - 2);
  for (mlir::Value *operand : {&query, &key, &value}) {
    Dims shape = batch;
    Dims own = cx.shape(*operand);
    shape.append(own.end() - 2, own.end());
    *operand = cx.broadcastTo(*operand, shape);
  }
  rank = static_cast<int64_t>(batch.size()) + 2;
  query = scaled(cx, query, args.optionalFloating("scale"));
  mlir::Value weights = weightsOf(cx, args, query, key);
  if (double p = args.floating("dropout_p"); p != 0.0) {
    TORCHERE_ASSIGN(Dropout dropped, dropOut(cx, weights, p));
    weights = dropped.value;
  }
  mlir::Value result = cx.dotGeneral(weights, value, rank - 2, rank - 1, rank - 2);
  return cx.convert(result, dtype);
}

/// The weights are computed again: `logsumexp` is not read, which torch's decomposition of the forward op
/// gives in another form.
Result<Values> attentionBackward(Context &cx, const Args &args) {
  auto operand = [&](const char *name) {
    mlir::Value tensor = args.tensor(name);
    return cx.convert(tensor, computeType(Context::dtype(tensor)));
  };
  if (double p = args.floating("dropout_p"); p != 0.0)
    return cx.unimplemented("dropout_p: got {}, expected 0", p);
  mlir::Value query = operand("query"), key = operand("key"), value = operand("value");
  mlir::Value incoming = operand("grad_out");
  int64_t rank = Context::rank(query);
  std::optional<double> scale = args.optionalFloating("scale");
  query = scaled(cx, query, scale);
  Elements weights(cx, weightsOf(cx, args, query, key));
  Elements toWeights = weights.with(cx.dotGeneral(incoming, value, rank - 2, rank - 1, rank - 1));
  mlir::Value zero = cx.constant(0.0, Context::dtype(weights));
  mlir::Value sum = cx.reduceWith<stablehlo::AddOp>(toWeights * weights, zero, {rank - 1});
  mlir::Value toScores = (toWeights - weights.with(cx.spread(sum, weights, {rank - 1}))) * weights;
  mlir::Value toQuery = scaled(cx, cx.dotGeneral(toScores, key, rank - 2, rank - 1, rank - 2), scale);
  mlir::Value toKey = cx.dotGeneral(toScores, query, rank - 2, rank - 2, rank - 2);
  mlir::Value toValue = cx.dotGeneral(weights, incoming, rank - 2, rank - 2, rank - 2);
  return Values{cx.convert(toQuery, cx.resultType(0).dtype), cx.convert(toKey, cx.resultType(1).dtype),
                cx.convert(toValue, cx.resultType(2).dtype)};
}

} // namespace

void addAttention(OpTable &table) {
  table.add(
      "aten::scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, "
      "float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
      attention, AsComposite{"sdpa"});
  table.add(
      "aten::_scaled_dot_product_flash_attention_for_cpu_backward(Tensor grad_out, Tensor query, Tensor key, "
      "Tensor value, Tensor out, Tensor logsumexp, float dropout_p, bool is_causal, *, "
      "Tensor? attn_mask=None, float? scale=None) "
      "-> (Tensor grad_query, Tensor grad_key, Tensor grad_value)",
      attentionBackward);
}

} // namespace torchere::lowering
