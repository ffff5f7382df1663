// Quantization of numbers as programs write it out: to integers by a scale and a zero point, back, and both
// at once, which training with quantization in mind does.
#include "lowering/elements.h"
#include "lowering/elementwise.h"
#include "lowering/op_table.h"

namespace torchere::lowering {

namespace {

/// A float, an int or a tensor of one element.
mlir::Value numberOf(Context &cx, const Args &args, std::string_view name, DType dtype) {
  if (args.isTensor(name))
    return cx.convert(args.tensor(name), dtype);
  if (args.get(name).as<double>())
    return cx.constant(args.floating(name), dtype);
  return cx.constant(args.integer(name), dtype);
}

/// A tensor of parameters, one each channel, or a number for all elements, beside each element of `like`.
Result<mlir::Value> parameter(Context &cx, const Args &args, std::string_view name, mlir::Value like) {
  DType dtype = Context::dtype(like);
  if (!args.has("axis"))
    return cx.broadcastTo(cx.reshape(numberOf(cx, args, name, dtype), {}), cx.shape(like));
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("axis"), Context::rank(like)));
  return cx.broadcastInDim(cx.convert(args.tensor(name), dtype), cx.shape(like), {axis});
}

std::string_view scaleName(const Args &args) {
  return args.has("scales") ? "scales" : "scale";
}

std::string_view zeroPointName(const Args &args) {
  return args.has("zero_points") ? "zero_points" : "zero_point";
}

/// float32, or float64 where the scales have it.
DType computedType(const Args &args) {
  std::string_view name = scaleName(args);
  bool isDouble = args.isTensor(name) && Context::dtype(args.tensor(name)) == DType::F64;
  return isDouble && args.has("axis") ? DType::F64 : DType::F32;
}

/// What an element is rounded to, before it is held between the ends of the range.
struct Rounded {
  Elements value, scale, zeroPoint;
};

Result<Rounded> roundToSteps(Context &cx, const Args &args, mlir::Value input) {
  Elements value(cx, cx.convert(input, computedType(args)));
  TORCHERE_ASSIGN(mlir::Value scale, parameter(cx, args, scaleName(args), value));
  TORCHERE_ASSIGN(mlir::Value zeroPoint, parameter(cx, args, zeroPointName(args), value));
  Elements steps = value * (1.0 / value.with(scale));
  return Rounded{steps.apply<stablehlo::RoundNearestEvenOp>() + value.with(zeroPoint), value.with(scale),
                 value.with(zeroPoint)};
}

Elements clamped(const Args &args, const Elements &value) {
  return minimum(maximum(value, static_cast<double>(args.integer("quant_min"))),
                 static_cast<double>(args.integer("quant_max")));
}

Result<mlir::Value> quantize(Context &cx, const Args &args) {
  TORCHERE_ASSIGN(Rounded rounded, roundToSteps(cx, args, args.tensor("input")));
  return cx.convert(clamped(args, rounded.value), cx.resultType().dtype);
}

/// (input - zero point) * scale.
Result<mlir::Value> dequantize(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  DType compute = args.has("axis") ? computedType(args) : dtype;
  Elements value(cx, cx.convert(args.tensor("input"), compute));
  TORCHERE_ASSIGN(mlir::Value scale, parameter(cx, args, scaleName(args), value));
  if (!args.isNone(zeroPointName(args))) {
    TORCHERE_ASSIGN(mlir::Value zeroPoint, parameter(cx, args, zeroPointName(args), value));
    value = value - value.with(zeroPoint);
  }
  return cx.convert(value * value.with(scale), dtype);
}

/// There and back, and which elements were within the range.
Result<Values> fakeQuantize(Context &cx, const Args &args) {
  TORCHERE_ASSIGN(Rounded rounded, roundToSteps(cx, args, args.tensor("self")));
  Elements value = (clamped(args, rounded.value) - rounded.zeroPoint) * rounded.scale;
  Elements isInside = both(rounded.value >= static_cast<double>(args.integer("quant_min")),
                           rounded.value <= static_cast<double>(args.integer("quant_max")));
  mlir::Value result = cx.convert(value, cx.resultType().dtype);
  mlir::Value mask = isInside;
  if (args.has("fake_quant_enabled")) { // off: the elements as they are
    mlir::Value isOn = cx.convert(cx.reshape(args.tensor("fake_quant_enabled"), {}), DType::Bool);
    isOn = cx.broadcastTo(isOn, cx.shape(mask));
    result = cx.select(isOn, result, cx.convert(args.tensor("self"), cx.resultType().dtype));
    mask = cx.elementwise<stablehlo::OrOp>({mask, cx.elementwise<stablehlo::NotOp>(isOn)});
  }
  return Values{result, mask};
}

} // namespace

void addQuantization(OpTable &table) {
  const std::string range = "int quant_min, int quant_max, ScalarType dtype";
  const std::string out = ", *, ScalarType? out_dtype=None) -> Tensor";
  const std::string space = "quantized_decomposed::";
  table.add(space + "quantize_per_tensor(Tensor input, float scale, int zero_point, " + range + ") -> Tensor",
            quantize);
  table.add(space + "quantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, " + range +
                ") -> Tensor",
            quantize);
  table.add(space + "quantize_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, " +
                range + ") -> Tensor",
            quantize);
  table.add(space + "dequantize_per_tensor(Tensor input, float scale, int zero_point, " + range + out,
            dequantize);
  table.add(space + "dequantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, " + range +
                out,
            dequantize);
  table.add(space + "dequantize_per_channel(Tensor input, Tensor scales, Tensor? zero_points, int axis, " +
                range + out,
            dequantize);
  table.add("aten::fake_quantize_per_tensor_affine_cachemask(Tensor self, float scale, int zero_point, "
            "int quant_min, int quant_max) -> (Tensor output, Tensor mask)",
            fakeQuantize);
  table.add("aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(Tensor self, Tensor scale, "
            "Tensor zero_point, Tensor fake_quant_enabled, int quant_min, int quant_max) "
            "-> (Tensor output, Tensor mask)",
            fakeQuantize);
  table.add("aten::fake_quantize_per_channel_affine_cachemask(Tensor self, Tensor scale, Tensor zero_point, "
            "int axis, int quant_min, int quant_max) -> (Tensor output, Tensor mask)",
            fakeQuantize);
}

} // namespace torchere::lowering
