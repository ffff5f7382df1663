// Rows of an embedding whose norm is bounded where they are read.
#include "lowering/elements.h"
#include "lowering/elementwise.h"
#include "lowering/op_table.h"
#include "lowering/placement.h"
#include "lowering/vector_norm.h"

namespace torchere::lowering {

namespace {

/// The table with the rows that are read scaled to the largest norm, if theirs is larger. Rows that are read
/// several times are written several times, with the same values.
mlir::Value boundNorms(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self"), indices = args.tensor("indices");
  Placement read = slicesAlong(cx, cx.reshape(indices, {cx.product(cx.shape(indices))}), 0);
  DType dtype = Context::dtype(self);
  Elements rows(cx, cx.convert(gatherSlices(cx, self, read), computeType(dtype)));
  double most = args.floating("max_norm");
  Elements norm(cx, normOf(cx, abs(rows), args.floating("norm_type"), {1}));
  Elements scale = (norm > most).select(norm.constant(most) / (norm + 1e-7), norm.constant(1.0));
  mlir::Value bounded = rows * rows.with(cx.broadcastInDim(scale, cx.shape(rows), {0}));
  return scatterSlices(cx, self, read, cx.convert(bounded, dtype), takeUpdate);
}

} // namespace

void addEmbeddingNorm(OpTable &table) {
  table.add("aten::embedding_renorm(Tensor self, Tensor indices, float max_norm, float norm_type) -> Tensor",
            boundNorms);
}

} // namespace torchere::lowering
