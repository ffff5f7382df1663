// The norm of vectors along dimensions.
#include "lowering/vector_norm.h"
#include "lowering/complex.h"
#include "lowering/elementwise.h"
#include "lowering/op_table.h"

#include <numeric>

namespace torchere::lowering {

namespace {

Result<mlir::Value> vectorNorm(Context &cx, const Args &args) {
  const TensorType &type = cx.resultType();
  mlir::Value self = args.tensor("self");
  DType given = args.dtype("dtype").value_or(Context::dtype(self));
  Integers axes(Context::rank(self));
  std::iota(axes.begin(), axes.end(), 0);
  if (!args.isNone("dim") && !args.integers("dim").empty() && Context::rank(self) > 0) {
    TORCHERE_ASSIGN(axes, cx.axes(args.integers("dim"), Context::rank(self)));
  }
  Elements sizes(cx, magnitude(cx, cx.convert(self, computeType(given))));
  mlir::Value norm = normOf(cx, sizes, toDouble(args.scalar("ord")), axes);
  return cx.reshape(cx.convert(norm, type.dtype), type.shape);
}

} // namespace

void addVectorNorm(OpTable &table) {
  table.add("aten::linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, "
            "ScalarType? dtype=None) -> Tensor",
            vectorNorm);
}

} // namespace torchere::lowering
