// Rules that elementwise rows share: promotion and broadcasting.
#include "lowering/elementwise.h"

namespace torchere::lowering {

DType computeType(DType dtype) {
  return dtype == DType::F16 || dtype == DType::BF16 ? DType::F32 : dtype;
}

DType promotedType(Context &cx, mlir::ValueRange values) {
  std::vector<PromotionOperand> operands;
  for (mlir::Value value : values) {
    DType dtype = Context::dtype(value);
    auto rank =
        Context::rank(value) == 0 ? PromotionOperand::Rank::ZeroDim : PromotionOperand::Rank::Dimensioned;
    if (cx.asNumber(value)) { // constants from numbers have the widest dtype of their kind
      rank = PromotionOperand::Rank::Number;
      dtype = dtype == DType::F64 ? DType::F32 : dtype == DType::C128 ? DType::C64 : dtype;
    }
    operands.push_back({dtype, rank});
  }
  return resultType(operands);
}

mlir::Value numberOperand(Context &cx, const Args &args, std::string_view name, DType dtype) {
  return args.isTensor(name) ? cx.convert(args.tensor(name), dtype)
                             : cx.programNumber(args.scalar(name), cx.elementType(dtype));
}

mlir::Value truncate(Context &cx, mlir::Value value) {
  mlir::Value negative = cx.compare(stablehlo::ComparisonDirection::LT, value, cx.fullLike(0.0, value));
  return cx.select(negative, cx.elementwise<stablehlo::CeilOp>(value),
                   cx.elementwise<stablehlo::FloorOp>(value));
}

mlir::Value toResultShape(Context &cx, mlir::Value value, DType dtype) {
  return cx.broadcastTo(cx.convert(value, dtype), cx.resultType().shape);
}

} // namespace torchere::lowering
