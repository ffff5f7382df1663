// Implements ElementStep.
#include "cpu/frontend/element_step.h"

#include "cpu/kernels/elements.h"
#include "evaluation/elementwise.h"
#include "evaluation/elementwise_functions.h"
#include "stablehlo/dialect.h"
#include "stablehlo/element_type_conversion.h"

#include <array>
#include <cstring>

using namespace mlir;

namespace torchere::cpu {

using evaluation::Element;
using Operands = std::span<const Element>;

namespace {

constexpr int64_t partElements = 2048;
constexpr size_t mostInputs = 3;

ElementType storedTypeAt(mlir::Value value) {
  return *stablehlo::storedTypeOf(cast<RankedTensorType>(value.getType()).getElementType());
}

/// A place in a view, moved from element to element in row-major order.
class Cursor {
public:
  Cursor(const View &view, int64_t position) : view(view), index(view.shape.size()), at(view.offset) {
    for (size_t i = view.shape.size(); i-- > 0;) {
      index[i] = position % view.shape[i];
      position /= view.shape[i];
      at += index[i] * view.strides[i];
    }
  }
  int64_t place() const { return at; }
  void advance() {
    for (size_t i = view.shape.size(); i-- > 0;) {
      at += view.strides[i];
      if (++index[i] < view.shape[i])
        return;
      at -= index[i] * view.strides[i];
      index[i] = 0;
    }
  }

private:
  const View &view;
  Sizes index;
  int64_t at;
};

} // namespace

std::optional<ElementFunction> elementFunctionOf(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() > mostInputs)
    return std::nullopt;
  StringRef name = op->getName().getStringRef();
  for (const evaluation::UnaryRow &row : evaluation::unaryFunctions)
    if (row.op == std::string_view(name))
      return [function = row.function](Operands x) { return function(x[0]); };
  for (const evaluation::BinaryRow &row : evaluation::binaryFunctions)
    if (row.op == std::string_view(name))
      return [function = row.function](Operands x) { return function(x[0], x[1]); };
  if (isa<stablehlo::ConvertOp>(op))
    return [type = storedTypeAt(op->getResult(0))](Operands x) { return evaluation::convert(x[0], type); };
  if (isa<stablehlo::ClampOp>(op))
    return [](Operands x) { return evaluation::minimum(evaluation::maximum(x[1], x[0]), x[2]); };
  if (isa<stablehlo::SelectOp>(op))
    return [](Operands x) { return x[0].asBool() ? x[1] : x[2]; };
  if (auto compare = dyn_cast<stablehlo::CompareOp>(op))
    return [direction = compare.getComparisonDirection(),
            isTotal = compare.getCompareType() == stablehlo::ComparisonType::TOTALORDER](Operands x) {
      return Element::integer(ElementType::Bool, evaluation::holds(direction, isTotal, x[0], x[1]));
    };
  if (isa<stablehlo::ReducePrecisionOp>(op)) {
    auto bits = [&](StringRef field, int64_t most) {
      return static_cast<int>(std::min(cast<IntegerAttr>(op->getAttr(field)).getInt(), most));
    };
    return [exponent = bits("exponent_bits", 11), mantissa = bits("mantissa_bits", 52)](Operands x) {
      return evaluation::reducePrecision(x[0], exponent, mantissa);
    };
  }
  return std::nullopt;
}

ElementStep::Key ElementStep::keyOf(ArrayRef<View> inputs, const View &result) {
  if (inputs.size() != 1)
    return Key::None;
  int size = inputs[0].elementSize();
  if (size == 1)
    return Key::Byte;
  if (result.elementSize() != 1)
    return Key::None;
  return size == 2                                                    ? Key::Half
         : inputs[0].type == ElementType::F32 && isFloat(result.type) ? Key::Odd
                                                                      : Key::None;
}

ElementStep::ElementStep(ElementFunction made, std::vector<View> from, const View &to)
    : function(std::move(made)), inputs(std::move(from)), result(to), key(keyOf(inputs, result)) {}

void ElementStep::makeTable() const {
  bool isByte = key == Key::Byte;
  auto size = static_cast<size_t>(result.elementSize());
  table.resize((isByte ? 1 << 8 : 1 << 16) * size);
  for (size_t bits = 0; bits * size < table.size(); ++bits) {
    std::array<std::byte, 2> bytes{static_cast<std::byte>(bits), static_cast<std::byte>(bits >> 8)};
    Element operand = Element::load(key == Key::Odd ? ElementType::BF16 : inputs[0].type, bytes.data());
    function({&operand, 1}).store(table.data() + bits * size);
  }
}

/// results[i] = table[bits of operands[i * stride]].
template <class Operand, class Result>
static void lookUp(const std::byte *operands, int64_t stride, const std::byte *table, bool isOdd,
                   int64_t count, std::byte *results) {
  for (int64_t i = 0; i < count; ++i) {
    Operand bits;
    std::memcpy(&bits, operands + static_cast<size_t>(i * stride) * sizeof(bits), sizeof(bits));
    auto place = static_cast<size_t>(bits);
    if (isOdd)
      place = place >> 16 | size_t((place & 0xffff) != 0);
    std::memcpy(results + static_cast<size_t>(i) * sizeof(Result), table + place * sizeof(Result),
                sizeof(Result));
  }
}

void ElementStep::lookUpPart(const Frame &frame, int64_t begin, int64_t end) const {
  View input = isDense(inputs[0]) ? *reshaped(inputs[0], {elementCount(inputs[0].shape)}) : inputs[0];
  int64_t row = input.shape.empty() ? 1 : input.shape.back();
  const std::byte *memory = frame.memory[input.buffer];
  std::byte *to = frame.at(result) + begin * result.elementSize();
  for (int64_t position = begin; position < end;) {
    int64_t count = std::min(end - position, row - position % row);
    const std::byte *from = memory + Cursor(input, position).place() * input.elementSize();
    int64_t stride = input.shape.empty() ? 1 : input.strides.back();
    withElement(result.elementSize(), [&](auto element) {
      using Result = decltype(element);
      auto run = key == Key::Byte   ? &lookUp<uint8_t, Result>
                 : key == Key::Half ? &lookUp<uint16_t, Result>
                                    : &lookUp<uint32_t, Result>;
      run(from, stride, table.data(), key == Key::Odd, count, to);
    });
    position += count;
    to += count * result.elementSize();
  }
}

void ElementStep::runPart(const Frame &frame, int64_t begin, int64_t end) const {
  llvm::SmallVector<Cursor, mostInputs> cursors;
  std::array<Element, mostInputs> operands;
  std::array<const std::byte *, mostInputs> memory{};
  for (size_t i = 0; i < inputs.size(); ++i) {
    cursors.emplace_back(inputs[i], begin);
    memory[i] = frame.memory[inputs[i].buffer];
  }
  auto size = static_cast<size_t>(result.elementSize());
  std::byte *to = frame.at(result) + static_cast<size_t>(begin) * size;
  for (int64_t position = begin; position < end; ++position, to += size) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      operands[i] = Element::load(inputs[i].type, memory[i] + cursors[i].place() * inputs[i].elementSize());
      cursors[i].advance();
    }
    function({operands.data(), inputs.size()}).store(to);
  }
}

Status ElementStep::run(const Frame &frame) const {
  int64_t count = elementCount(result.shape), parts = (count + partElements - 1) / partElements;
  // A table of 65,536 results is worth its time only where as many are asked for, sooner or later.
  bool isLookedUp = key == Key::Byte || (key != Key::None && count >= partElements);
  if (isLookedUp)
    std::call_once(isMade, [&] { makeTable(); });
  frame.context.pool.parallelFor(parts, [&](int64_t part) {
    int64_t begin = part * partElements, end = std::min(count, begin + partElements);
    isLookedUp ? lookUpPart(frame, begin, end) : runPart(frame, begin, end);
  });
  return {};
}

} // namespace torchere::cpu
