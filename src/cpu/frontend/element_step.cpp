// Implements ElementStep.
#include "cpu/frontend/element_step.h"

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

ElementStep::ElementStep(ElementFunction made, std::vector<View> from, const View &to)
    : function(std::move(made)), inputs(std::move(from)), result(to) {
  if (inputs.size() != 1 || inputs[0].elementSize() != 1)
    return;
  auto size = static_cast<size_t>(result.elementSize());
  table.resize(256 * size);
  for (size_t byte = 0; byte < 256; ++byte) {
    auto bits = static_cast<std::byte>(byte);
    Element operand = Element::load(inputs[0].type, &bits);
    function({&operand, 1}).store(table.data() + byte * size);
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
      const std::byte *from = memory[i] + cursors[i].place() * inputs[i].elementSize();
      cursors[i].advance();
      if (table.empty())
        operands[i] = Element::load(inputs[i].type, from);
      else
        std::memcpy(to, table.data() + static_cast<size_t>(*from) * size, size);
    }
    if (table.empty())
      function({operands.data(), inputs.size()}).store(to);
  }
}

Status ElementStep::run(const Frame &frame) const {
  int64_t count = elementCount(result.shape), parts = (count + partElements - 1) / partElements;
  frame.context.pool.parallelFor(parts, [&](int64_t part) {
    runPart(frame, part * partElements, std::min(count, (part + 1) * partElements));
  });
  return {};
}

} // namespace torchere::cpu
