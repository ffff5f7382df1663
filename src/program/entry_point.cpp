// What holds between an entry point and the weights that it takes.
#include "program/entry_point.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace torchere::program {

bool isOfType(const Weight &weight, const TensorSignature &type) {
  return weight.dtype == type.dtype &&
         std::equal(weight.shape.begin(), weight.shape.end(), type.shape.begin(), type.shape.end());
}

Status checkWeight(const Weight &weight, const EntryInput &input, const EntryPoint &function) {
  if (isOfType(weight, input.type))
    return {};
  if (weight.dtype != input.type.dtype)
    return invalidArgument("[{}] wrong dtype of the weight: got {}, expected {} by function \"{}\"",
                           input.name, dtypeInfo(weight.dtype).torchName,
                           dtypeInfo(input.type.dtype).torchName, function.name);
  return invalidArgument("[{}] wrong shape of the weight: got {}, expected {} by function \"{}\"", input.name,
                         shapeText(weight.shape), shapeText(input.type.shape, function.expressions),
                         function.name);
}

static std::string replaced(std::string text, std::string_view mark, const std::string &value) {
  for (size_t place = text.find(mark); place != std::string::npos; place = text.find(mark, place))
    text.replace(place, mark.size(), value);
  return text;
}

Status checkStatus(std::span<const int32_t> status, const EntryPoint &function) {
  int32_t number = status.empty() ? -1 : status[0];
  if (number == 0)
    return {};
  if (number < 0 || static_cast<size_t>(number) > function.checks.size() ||
      static_cast<int64_t>(status.size()) != statusSize)
    return fail(ErrorCode::DataLoss, "[{}] wrong status of the program's checks: got {}, expected 0 to {}",
                function.name, number, function.checks.size());
  const RunTimeCheck &check = function.checks[static_cast<size_t>(number) - 1];
  std::string message = check.message;
  if (check.isFactorization) {
    std::string element = status[1] > 0 ? fmt::format(": (Batch element {})", status[1] - 1) : "";
    message = replaced(replaced(message, batchMark, element), codeMark, std::to_string(status[2]));
  }
  ErrorCode code = check.isFactorization ? ErrorCode::Aborted : ErrorCode::FailedPrecondition;
  return tl::unexpected<Error>(Error{code, fmt::format("[{}] {}", check.op, message), check.where});
}

std::string shapeText(const std::vector<SymInt> &shape, const ExpressionPool &expressions) {
  std::vector<std::string> sizes;
  for (SymInt size : shape)
    sizes.push_back(size.isConstant() ? std::to_string(size.constant()) : expressions.print(size));
  return fmt::format("({}{})", fmt::join(sizes, ", "), sizes.size() == 1 ? "," : "");
}

std::string shapeText(const std::vector<int64_t> &shape) {
  return shapeText(std::vector<SymInt>(shape.begin(), shape.end()), {});
}

} // namespace torchere::program
