// Implements checkShapeAssertions.
#include "passes/shapes/shape_assertions.h"

#include "evaluation/constant_evaluation.h"
#include "stablehlo/dialect.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace torchere::evaluation;
using namespace torchere::stablehlo;

namespace torchere::passes {

namespace {

bool isScalar(Type type, std::initializer_list<unsigned> widths) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0 && llvm::any_of(widths, [&](unsigned width) {
           return tensor.getElementType().isSignlessInteger(width);
         });
}

LogicalResult verifyForm(CustomCallOp op) {
  if (op->getNumResults() != 0)
    return op.emitOpError() << "@shape_assertion has " << op->getNumResults() << " results, expected none";
  if (op->getNumOperands() == 0 || !isScalar(op->getOperand(0).getType(), {1}))
    return op.emitOpError() << "@shape_assertion: the first operand is the condition, expected 'tensor<i1>'";
  for (auto [index, input] : llvm::enumerate(op->getOperands().drop_front()))
    if (!isScalar(input.getType(), {32, 64}))
      return op.emitOpError() << "@shape_assertion: input " << index << " of the message: got "
                              << input.getType() << ", expected 'tensor<i32>' or 'tensor<i64>'";
  if (!op->getAttrOfType<StringAttr>("error_message"))
    return op.emitOpError() << "@shape_assertion has no error_message";
  return success();
}

/// The message with the inputs substituted for {0}, {1}, ...; a layout after the number, as in {0,-5}, is
/// ignored.
FailureOr<std::string> formatMessage(CustomCallOp op, StringRef message, ArrayRef<int64_t> inputs) {
  std::string text;
  while (!message.empty()) {
    auto [before, rest] = message.split('{');
    text += before;
    size_t length = rest.find('}');
    size_t index = 0;
    if (length == StringRef::npos || rest.take_front(rest.find_first_of(",:}")).getAsInteger(10, index)) {
      if (before.size() != message.size())
        text += '{'; // no placeholder after all
      message = rest;
      continue;
    }
    if (index >= inputs.size())
      return op.emitOpError() << "@shape_assertion: the message names input " << index << " of "
                              << inputs.size();
    text += std::to_string(inputs[index]);
    message = rest.drop_front(length + 1);
  }
  return text;
}

LogicalResult check(CustomCallOp op) {
  if (failed(verifyForm(op)))
    return failure();
  DenseIntElementsAttr condition = constantInteger(op->getOperand(0));
  if (!condition)
    return op.emitOpError()
           << "@shape_assertion: the condition is not known: it depends on values, or shapes "
              "have not been refined";
  SmallVector<int64_t> inputs;
  for (auto [index, operand] : llvm::enumerate(op->getOperands().drop_front())) {
    DenseIntElementsAttr input = constantInteger(operand);
    if (!input)
      return op.emitOpError() << "@shape_assertion: input " << index << " of the message is no constant";
    inputs.push_back(input.getSplatValue<APInt>().getSExtValue());
  }
  FailureOr<std::string> message =
      formatMessage(op, op->getAttrOfType<StringAttr>("error_message").getValue(), inputs);
  if (failed(message))
    return failure();
  if (condition.getSplatValue<APInt>().isZero())
    return op.emitError() << *message;
  op.erase();
  return success();
}

} // namespace

LogicalResult checkShapeAssertions(func::FuncOp function) {
  LogicalResult result = success();
  function.walk([&](CustomCallOp op) {
    if (op.getCallTargetName() == "shape_assertion" && failed(check(op)))
      result = failure();
  });
  return result;
}

} // namespace torchere::passes
