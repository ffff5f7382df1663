// The error function, its complement, and gelu, which is based on it.
#include "lowering/elements.h"
#include "lowering/elementwise.h"
#include "lowering/op_table.h"
#include "stablehlo/chlo_dialect.h"

#include <cmath>

namespace torchere::lowering {

namespace {

/// Integers become the result's floats; half precision is computed in float32.
Elements operand(Context &cx, const Args &args) {
  return {cx, cx.convert(args.tensor("self"), computeType(cx.resultType().dtype))};
}

/// x times the normal distribution function of x; erfc keeps the digits that 1 + erf would lose for negative
/// x.
Elements exactGelu(const Elements &x) {
  return 0.5 * x * (x * -std::sqrt(0.5)).apply<chlo::ErfcOp>();
}

Elements tanhGelu(const Elements &x) {
  Elements inner = std::sqrt(2.0 / 3.14159265358979323846) * (x + 0.044715 * (x * x * x));
  return 0.5 * x * (1.0 + tanh(inner));
}

Result<mlir::Value> gelu(Context &cx, const Args &args) {
  std::string approximation = args.string("approximate");
  if (approximation != "none" && approximation != "tanh")
    return cx.invalid("unknown approximation: got '{}', expected 'none' or 'tanh'", approximation);
  Elements x = operand(cx, args);
  return cx.convert(approximation == "none" ? exactGelu(x) : tanhGelu(x), cx.resultType().dtype);
}

} // namespace

void addErrorFunction(OpTable &table) {
  table.add("aten::erf(Tensor self) -> Tensor", unary<chlo::ErfOp>);
  table.add("aten::erfc(Tensor self) -> Tensor", unary<chlo::ErfcOp>);
  table.add("aten::gelu(Tensor self, *, str approximate='none') -> Tensor", gelu, AsComposite{"gelu"});
}

} // namespace torchere::lowering
