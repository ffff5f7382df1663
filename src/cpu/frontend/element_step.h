// ElementStep: an op on elements of types that vectors have not, element by element.
#pragma once

#include "cpu/plan/plan.h"
#include "evaluation/element.h"

#include "mlir/IR/Operation.h"

#include <functional>
#include <mutex>
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
  /// By what the result is looked up, where there is one operand.
  enum class Key : uint8_t {
    None,
    Byte,
    Half, ///< of results of a byte
    Odd,  ///< the upper half of an F32, made odd if the lower one is not zero: for results of a byte, whose
          ///< rounding this does not change
  };
  static Key keyOf(llvm::ArrayRef<View> inputs, const View &result);
  void makeTable() const;
  void runPart(const Frame &frame, int64_t begin, int64_t end) const;
  void lookUpPart(const Frame &frame, int64_t begin, int64_t end) const;

  ElementFunction function;
  std::vector<View> inputs;
  View result;
  Key key;
  mutable std::once_flag isMade;
  mutable std::vector<std::byte> table; ///< the results by the key
};

} // namespace torchere::cpu
