// Quantization with StableHLO's quantized types.
#include "exporter/uniform_quantization.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>

namespace torchere::exporter {

namespace {

constexpr std::string_view prefix = "quantized_decomposed.";

using Arguments = std::map<std::string, const lowering::Argument *, std::less<>>;

Arguments byName(const std::vector<lowering::GivenArgument> &arguments) {
  Arguments named;
  for (const lowering::GivenArgument &argument : arguments)
    named.emplace(argument.name, &argument.value);
  return named;
}

/// One of two names, of which ops have one.
const lowering::Argument *find(const Arguments &arguments, std::string_view name, std::string_view other) {
  auto found = arguments.find(name);
  if (found == arguments.end())
    found = arguments.find(other);
  return found == arguments.end() ? nullptr : found->second;
}

/// The double with the float's shortest decimals: 3.2, where the float is 3.2000000477. As a float it is the
/// same.
double decimalOf(float value) {
  return std::strtod(fmt::format("{}", value).c_str(), nullptr);
}

/// The numbers of a constant tensor, or a number.
std::optional<llvm::SmallVector<double>> numbersOf(const lowering::Argument *argument) {
  if (!argument)
    return std::nullopt;
  if (const double *number = argument->as<double>())
    return llvm::SmallVector<double>{*number};
  if (const int64_t *number = argument->as<int64_t>())
    return llvm::SmallVector<double>{static_cast<double>(*number)};
  const mlir::Value *tensor = argument->as<mlir::Value>();
  auto constant = tensor ? tensor->getDefiningOp<stablehlo::ConstantOp>() : stablehlo::ConstantOp();
  auto elements =
      constant ? constant->getAttrOfType<mlir::DenseElementsAttr>("value") : mlir::DenseElementsAttr();
  if (!elements)
    return std::nullopt;
  llvm::SmallVector<double> numbers;
  if (elements.getElementType().isInteger())
    for (const llvm::APInt &value : elements.getValues<llvm::APInt>())
      numbers.push_back(static_cast<double>(value.getSExtValue()));
  else if (elements.getElementType().isF32())
    for (float value : elements.getValues<float>())
      numbers.push_back(decimalOf(value));
  else if (elements.getElementType().isF64())
    llvm::append_range(numbers, elements.getValues<double>());
  else
    return std::nullopt;
  return numbers;
}

std::optional<int64_t> integerOf(const Arguments &arguments, std::string_view name) {
  auto found = arguments.find(name);
  const int64_t *number = found == arguments.end() ? nullptr : found->second->as<int64_t>();
  return number ? std::optional(*number) : std::nullopt;
}

/// The integers of a quantized type.
struct Storage {
  unsigned flags = 0;
  unsigned width = 0;
  int64_t least = 0, most = 0;

  static std::optional<Storage> of(const Arguments &arguments) {
    auto dtype = arguments.find("dtype");
    const DType *integers = dtype == arguments.end() ? nullptr : dtype->second->as<DType>();
    auto least = integerOf(arguments, "quant_min"), most = integerOf(arguments, "quant_max");
    if (!integers || !least || !most || *least >= *most)
      return std::nullopt;
    const DTypeInfo &info = dtypeInfo(*integers);
    auto width = static_cast<unsigned>(8 * byteSize(*integers));
    bool isUnsigned = info.torchName.starts_with("uint");
    if ((!isUnsigned && !info.torchName.starts_with("int")) || width > 32)
      return std::nullopt;
    int64_t bottom = isUnsigned ? 0 : -(int64_t{1} << (width - 1));
    int64_t top = isUnsigned ? (int64_t{1} << width) - 1 : (int64_t{1} << (width - 1)) - 1;
    if (*least < bottom || *most > top)
      return std::nullopt;
    return Storage{isUnsigned ? 0 : unsigned(mlir::quant::QuantizationFlags::Signed), width, *least, *most};
  }

  bool allows(llvm::ArrayRef<double> scales, llvm::ArrayRef<double> zeroPoints) const {
    auto isScale = [](double scale) {
      auto single = static_cast<float>(scale);
      return std::isnormal(single) && single > 0;
    };
    auto isPoint = [&](double point) {
      return point >= static_cast<double>(least) && point <= static_cast<double>(most);
    };
    return llvm::all_of(scales, isScale) && llvm::all_of(zeroPoints, isPoint);
  }
};

/// The quantized type of a call; null where there is none.
mlir::Type typeOf(lowering::Context &cx, const Arguments &arguments, llvm::ArrayRef<int64_t> shape) {
  std::optional<Storage> storage = Storage::of(arguments);
  auto scales = numbersOf(find(arguments, "scale", "scales"));
  const lowering::Argument *points = find(arguments, "zero_point", "zero_points");
  auto zeroPoints = !points || points->isNone()
                        ? std::optional(llvm::SmallVector<double>(scales ? scales->size() : 0))
                        : numbersOf(points);
  if (!storage || !scales || !zeroPoints || scales->size() != zeroPoints->size() ||
      !storage->allows(*scales, *zeroPoints))
    return {};
  mlir::Type integers = cx.builder().getIntegerType(storage->width), expressed = cx.builder().getF32Type();
  if (!arguments.contains("axis")) {
    if (scales->size() != 1)
      return {};
    return mlir::quant::UniformQuantizedType::get(storage->flags, integers, expressed, scales->front(),
                                                  static_cast<int64_t>(zeroPoints->front()), storage->least,
                                                  storage->most);
  }
  auto axis = integerOf(arguments, "axis");
  auto rank = static_cast<int64_t>(shape.size());
  if (!axis || *axis < -rank || *axis >= rank)
    return {};
  int64_t dimension = *axis < 0 ? *axis + rank : *axis;
  if (shape[static_cast<size_t>(dimension)] != static_cast<int64_t>(scales->size()))
    return {};
  llvm::SmallVector<int64_t> integerPoints(zeroPoints->begin(), zeroPoints->end());
  return mlir::quant::UniformQuantizedPerAxisType::get(storage->flags, integers, expressed, *scales,
                                                       integerPoints, static_cast<int32_t>(dimension),
                                                       storage->least, storage->most);
}

/// The integers as a tensor of a quantized type: the one that they have been taken from, where it is the
/// same.
mlir::Value asQuantized(lowering::Context &cx, mlir::Value integers, mlir::RankedTensorType type) {
  if (auto bits = integers.getDefiningOp<stablehlo::BitcastConvertOp>())
    if (bits->getOperand(0).getType() == type)
      return bits->getOperand(0);
  return cx.withShape(cx.create<stablehlo::BitcastConvertOp>(type, integers), cx.shape(integers));
}

} // namespace

mlir::Value uniformQuantization(lowering::Context &cx, const program::Node &node,
                                const std::vector<lowering::GivenArgument> &arguments,
                                const lowering::TensorType &result) {
  std::string_view op = node.op();
  if (!op.starts_with(prefix))
    return {};
  op.remove_prefix(prefix.size());
  bool isQuantize = op.starts_with("quantize_per_tensor") || op == "quantize_per_channel.default";
  bool isDequantize = op.starts_with("dequantize_per_tensor") || op == "dequantize_per_channel.default";
  Arguments named = byName(arguments);
  auto input = named.find("input");
  const mlir::Value *value = input == named.end() ? nullptr : input->second->as<mlir::Value>();
  if ((!isQuantize && !isDequantize) || !value)
    return {};
  auto given = mlir::cast<mlir::RankedTensorType>(value->getType());
  mlir::Type type = typeOf(cx, named, given.getShape());
  if (!type || (isQuantize && given.getElementType().isF64()))
    return {};
  lowering::Dims shape = cx.shape(*value);
  if (isQuantize) {
    mlir::Value quantized = cx.withShape(
        cx.create<stablehlo::UniformQuantizeOp>(given.clone(type), cx.convert(*value, DType::F32)), shape);
    return cx.withShape(
        cx.create<stablehlo::BitcastConvertOp>(cx.tensorType(result.shape, result.dtype), quantized), shape);
  }
  mlir::Value quantized = asQuantized(cx, *value, given.clone(type));
  mlir::Value numbers = cx.withShape(
      cx.create<stablehlo::UniformDequantizeOp>(given.clone(cx.elementType(DType::F32)), quantized), shape);
  return cx.convert(numbers, result.dtype);
}

bool isQuantizationParameter(const program::Graph &graph, program::NodeId node) {
  for (const program::Node &user : graph.nodes) {
    if (user.kind != program::NodeKind::Call || !user.op().starts_with(prefix))
      continue;
    for (auto [name, value] : user.given()) {
      const auto *reference = value.as<program::NodeReference>();
      bool isParameter = name.starts_with("scale") || name.starts_with("zero_point");
      if (isParameter && reference && reference->node == node)
        return true;
    }
  }
  return false;
}

} // namespace torchere::exporter
