// Ops that fold dimensions away: sums, means, extrema, variances, any and all.
#include "lowering/complex.h"
#include "lowering/elementwise.h"
#include "lowering/op_table.h"

#include <algorithm>

namespace torchere::lowering {

namespace {

/// The axes given by `dim`: an int, a list, or None, which means all axes.
Result<Integers> reducedAxes(Context &cx, const Args &args, mlir::Value value) {
  if (!args.has("dim") || args.isNone("dim"))
    return allAxes(value);
  Integers dims;
  if (args.get("dim").as<Argument::List>())
    dims = args.integers("dim");
  else
    dims.push_back(args.integer("dim"));
  if (dims.empty() || Context::rank(value) == 0)
    return allAxes(value);
  return cx.axes(dims, Context::rank(value));
}

/// Reduces in torch's accumulation type and gives the result its sizes (kept dimensions are 1) and dtype.
template <class Op>
Result<mlir::Value> reduction(Context &cx, const Args &args, DType compute, mlir::Value initial) {
  mlir::Value self = cx.convert(args.tensor("self"), compute);
  TORCHERE_ASSIGN(Integers axes, reducedAxes(cx, args, self));
  mlir::Value result = axes.empty() ? self : cx.reduceWith<Op>(self, initial, axes);
  return cx.reshape(cx.convert(result, cx.resultType().dtype), cx.resultType().shape);
}

Result<mlir::Value> reduceSum(Context &cx, const Args &args) {
  DType compute = computeType(cx.resultType().dtype);
  return reduction<stablehlo::AddOp>(cx, args, compute, cx.constant(int64_t{0}, compute));
}

Result<mlir::Value> reduceProduct(Context &cx, const Args &args) {
  DType compute = computeType(cx.resultType().dtype);
  return reduction<stablehlo::MulOp>(cx, args, compute, cx.constant(int64_t{1}, compute));
}

Result<mlir::Value> maximum(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  return reduction<stablehlo::MaxOp>(cx, args, dtype, cx.lowest(cx.elementType(dtype)));
}

Result<mlir::Value> minimum(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  return reduction<stablehlo::MinOp>(cx, args, dtype, cx.highest(cx.elementType(dtype)));
}

/// torch returns uint8 for uint8 and bool for all other dtypes.
template <class Op, bool neutral> Result<mlir::Value> reduceLogical(Context &cx, const Args &args) {
  const Argument::List *dims = args.has("dim") ? args.get("dim").as<Argument::List>() : nullptr;
  if (dims && dims->empty()) // unlike in sum, an empty list here means no axes
    return cx.convert(cx.convert(args.tensor("self"), DType::Bool), cx.resultType().dtype);
  return reduction<Op>(cx, args, DType::Bool, cx.constant(neutral, DType::Bool));
}

mlir::Value divideBy(Context &cx, mlir::Value value, mlir::Value divisor) {
  return cx.elementwise<stablehlo::DivOp>({value, cx.broadcastTo(divisor, cx.shape(value))});
}

Result<mlir::Value> mean(Context &cx, const Args &args) {
  DType compute = computeType(cx.resultType().dtype);
  mlir::Value self = cx.convert(args.tensor("self"), compute);
  TORCHERE_ASSIGN(Integers axes, reducedAxes(cx, args, self));
  mlir::Value sum = cx.reduceWith<stablehlo::AddOp>(self, cx.constant(0.0, compute), axes);
  mlir::Value result = divideBy(cx, sum, cx.count(self, axes, compute));
  return cx.reshape(cx.convert(result, cx.resultType().dtype), cx.resultType().shape);
}

struct Spread {
  mlir::Value variance, mean; ///< in the type that they are computed in, with the axes reduced away
};

/// Of complex numbers the squares of their distances' magnitudes.
mlir::Value squaredMagnitude(Context &cx, mlir::Value value) {
  if (!dtypeInfo(Context::dtype(value)).isComplex)
    return cx.elementwise<stablehlo::MulOp>({value, value});
  mlir::Value real = realPart(cx, value), imaginary = imaginaryPart(cx, value);
  return cx.elementwise<stablehlo::AddOp>({cx.elementwise<stablehlo::MulOp>({real, real}),
                                           cx.elementwise<stablehlo::MulOp>({imaginary, imaginary})});
}

/// What is subtracted from the count; older overloads say it by a flag.
double correctionOf(const Args &args) {
  if (args.has("unbiased"))
    return args.boolean("unbiased") ? 1.0 : 0.0;
  return args.isNone("correction") ? 1.0 : toDouble(args.scalar("correction"));
}

/// Two passes, as torch: the mean of squared distances from the mean, over count - correction (at least 0).
Result<Spread> spreadOf(Context &cx, const Args &args) {
  DType compute = computeType(Context::dtype(args.tensor("self")));
  mlir::Value self = cx.convert(args.tensor("self"), compute);
  TORCHERE_ASSIGN(Integers axes, reducedAxes(cx, args, self));
  DType real = partType(compute);
  mlir::Value zero = cx.constant(0.0, real);
  mlir::Value n = cx.count(self, axes, real);
  mlir::Value sum = cx.reduceWith<stablehlo::AddOp>(self, cx.constant(0.0, compute), axes);
  mlir::Value mean = divideBy(cx, sum, cx.convert(n, compute));
  mlir::Value distance = cx.elementwise<stablehlo::SubtractOp>({self, cx.spread(mean, self, axes)});
  mlir::Value total = cx.reduceWith<stablehlo::AddOp>(squaredMagnitude(cx, distance), zero, axes);
  double correction = correctionOf(args);
  mlir::Value freedom = cx.elementwise<stablehlo::MaxOp>(
      {cx.elementwise<stablehlo::SubtractOp>({n, cx.constant(correction, real)}), zero});
  return Spread{divideBy(cx, total, freedom), mean};
}

mlir::Value asResult(Context &cx, mlir::Value value, size_t index) {
  const TensorType &type = cx.resultType(index);
  return cx.reshape(cx.convert(value, type.dtype), type.shape);
}

mlir::Value deviationOf(Context &cx, const Spread &spread, bool isRoot) {
  return isRoot ? cx.elementwise<stablehlo::SqrtOp>(spread.variance) : spread.variance;
}

/// var, or std as its square root.
template <bool isRoot> Result<mlir::Value> variance(Context &cx, const Args &args) {
  TORCHERE_ASSIGN(Spread spread, spreadOf(cx, args));
  return asResult(cx, deviationOf(cx, spread, isRoot), 0);
}

template <bool isRoot> Result<Values> varianceAndMean(Context &cx, const Args &args) {
  TORCHERE_ASSIGN(Spread spread, spreadOf(cx, args));
  return Values{asResult(cx, deviationOf(cx, spread, isRoot), 0), asResult(cx, spread.mean, 1)};
}

} // namespace

void addReduction(OpTable &table) {
  table.add("aten::sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", reduceSum);
  table.add("aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) "
            "-> Tensor",
            reduceSum);
  table.add("aten::prod(Tensor self, *, ScalarType? dtype=None) -> Tensor", reduceProduct);
  table.add(
      "aten::prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
      reduceProduct);
  table.add("aten::mean(Tensor self, *, ScalarType? dtype=None) -> Tensor", mean);
  table.add(
      "aten::mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
      mean);
#define TORCHERE_SPREAD_OPTIONS                                                                              \
  "Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False"
  table.add("aten::var.correction(" TORCHERE_SPREAD_OPTIONS ") -> Tensor", variance<false>);
  table.add("aten::std.correction(" TORCHERE_SPREAD_OPTIONS ") -> Tensor", variance<true>);
  table.add("aten::var_mean.correction(" TORCHERE_SPREAD_OPTIONS ") -> (Tensor, Tensor)",
            varianceAndMean<false>);
  table.add("aten::std_mean.correction(" TORCHERE_SPREAD_OPTIONS ") -> (Tensor, Tensor)",
            varianceAndMean<true>);
#undef TORCHERE_SPREAD_OPTIONS
  table.add("aten::var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
            variance<false>);
  table.add("aten::std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
            variance<true>);
  table.add("aten::amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", maximum);
  table.add("aten::amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", minimum);
  table.add("aten::max(Tensor self) -> Tensor", maximum);
  table.add("aten::min(Tensor self) -> Tensor", minimum);
  table.add("aten::any(Tensor self) -> Tensor", reduceLogical<stablehlo::OrOp, false>);
  table.add("aten::_is_any_true(Tensor self) -> Tensor", reduceLogical<stablehlo::OrOp, false>);
  table.add("aten::_is_all_true(Tensor self) -> Tensor", reduceLogical<stablehlo::AndOp, true>);
  table.add("aten::any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
            reduceLogical<stablehlo::OrOp, false>);
  table.add("aten::any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
            reduceLogical<stablehlo::OrOp, false>);
  table.add("aten::all(Tensor self) -> Tensor", reduceLogical<stablehlo::AndOp, true>);
  table.add("aten::all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
            reduceLogical<stablehlo::AndOp, true>);
  table.add("aten::all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
            reduceLogical<stablehlo::AndOp, true>);
}

} // namespace torchere::lowering
