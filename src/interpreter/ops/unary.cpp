// Elementwise ops of one operand.
#include "evaluation/elementwise.h"
#include "evaluation/elementwise_functions.h"
#include "interpreter/call.h"

#include <cstring>

namespace torchere::interpreter {

namespace {

Result<Values> convertElements(const Call &call) {
  TORCHERE_ASSIGN(ElementType type, call.resultType());
  return oneResult(
      mapElements(call.operand(0), type, [=](const Element &element) { return convert(element, type); }));
}

Result<Values> reduceElementPrecision(const Call &call) {
  int exponentBits = static_cast<int>(std::min<int64_t>(call.integer("exponent_bits"), 11));
  int mantissaBits = static_cast<int>(std::min<int64_t>(call.integer("mantissa_bits"), 52));
  return oneResult(mapElements(call.operand(0), call.operand(0).type(), [=](const Element &element) {
    return reducePrecision(element, exponentBits, mantissaBits);
  }));
}

/// A tensor's elements as one string of bits, each element's lowest bit first.
class BitString {
public:
  BitString(ElementType type, std::span<std::byte> bytes)
      : bits(elementTypeInfo(type).bits), width(elementTypeInfo(type).bytes()), bytes(bytes) {}

  bool at(int64_t index) const {
    return (bytes[byteOf(index)] >> shiftOf(index) & std::byte(1)) != std::byte(0);
  }
  void set(int64_t index) { bytes[byteOf(index)] |= std::byte(1) << shiftOf(index); }

private:
  size_t byteOf(int64_t index) const { return static_cast<size_t>(index / bits * width + index % bits / 8); }
  int shiftOf(int64_t index) const { return static_cast<int>(index % bits % 8); }

  int64_t bits, width;
  std::span<std::byte> bytes;
};

/// In the type with fewer bits, the last dimension counts the parts of one element of the other type, the
/// lowest first.
Result<Values> bitcastConvert(const Call &call) {
  TORCHERE_ASSIGN(ElementType type, call.resultType());
  Tensor operand = call.operand(0);
  Index shape = operand.shape();
  int from = elementTypeInfo(operand.type()).bits, to = elementTypeInfo(type).bits;
  if (from > to)
    shape.push_back(from / to);
  else if (from < to && (shape.empty() || shape.back() * from != to))
    return invalidArgument("the last dimension of {} cannot be taken for elements of {} bits",
                           operand.typeText(), to);
  else if (from < to)
    shape.pop_back();
  TORCHERE_ASSIGN(Tensor result, Tensor::create(type, shape));
  BitString source(operand.type(), operand.writableBytes()), target(type, result.writableBytes());
  for (int64_t index = 0; index < operand.count() * from; ++index)
    if (source.at(index))
      target.set(index);
  return Values{std::move(result)};
}

template <UnaryFunction function> Result<Values> unary(const Call &call) {
  TORCHERE_ASSIGN(ElementType type, call.resultType());
  return oneResult(mapElements(call.operand(0), type, function));
}

/// One evaluation for each row of the function table.
template <size_t... row> void addUnaryFunctions(EvaluationTable &table, std::index_sequence<row...>) {
  (table.addComputation(unaryFunctions[row].op, unary<unaryFunctions[row].function>), ...);
}

} // namespace

void addUnary(EvaluationTable &table) {
  addUnaryFunctions(table, std::make_index_sequence<std::size(unaryFunctions)>());
  table.add("stablehlo.bitcast_convert", bitcastConvert);
  table.add("stablehlo.convert", convertElements);
  table.addComputation("stablehlo.reduce_precision", reduceElementPrecision);
  // Computations are given numbers in place of quantized values, and their results are quantized: nothing
  // else is left to do.
  table.addComputation("stablehlo.uniform_dequantize", passOn);
  table.addComputation("stablehlo.uniform_quantize", passOn);
}

} // namespace torchere::interpreter
