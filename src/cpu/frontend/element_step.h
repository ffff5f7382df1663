// ElementStep: an op on elements of types that vectors have not, element by element.
#pragma once

#include "cpu/plan/plan.h"
#include "evaluation/element.h"

#include "mlir/IR/Operation.h"

#include <functional>
#include <optional>

namespace torchere::cpu {

/// An element of the result, from one of each operand.
using ElementFunction = std::function<evaluation::Element(std::span<const evaluation::Element> operands)>;

/// The function of an elementwise op; none for other ops. It keeps nothing of the op.
std::optional<ElementFunction> elementFunctionOf(mlir::Operation *op);

class ElementStep final : public Step {
public:
  /// The inputs have the result's shape, which is dense. At most three.
  ElementStep(ElementFunction function, std::vector<View> inputs, const View &result);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "elements"; }

private:
  void runPart(const Frame &frame, int64_t begin, int64_t end) const;

  ElementFunction function;
  std::vector<View> inputs;
  View result;
  std::vector<std::byte> table; ///< the results by the byte of the only operand, if it has one
};

} // namespace torchere::cpu
