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
