// CallSignature: the checks that every call makes, and the texts of their errors.
#include "session/call_signature.h"

#include "program/python_text.h"
#include "session/size_solver.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace torchere::session {

using program::Constant;
using program::ConstantInput;
using program::EntryInput;

CallSignature::CallSignature(const program::EntryPoint &entryPoint) : entryPoint(entryPoint) {
  for (const EntryInput &input : entryPoint.inputs)
    if (input.source == program::InputSource::UserInput)
      tensors.push_back(&input);
  for (const EntryInput &input : entryPoint.unusedInputs)
    if (input.source == program::InputSource::UserInput)
      tensors.push_back(&input);
  std::stable_sort(tensors.begin(), tensors.end(),
                   [](const EntryInput *a, const EntryInput *b) { return a->position < b->position; });
  for (const EntryInput *input : tensors) {
    for (size_t i = 0; i < input->type.shape.size(); ++i)
      if (!input->type.shape[i].isConstant())
        dimensions.push_back({input, i, input->type.shape[i]});
    if (isAmongSizes(*input))
      dimensions.push_back({input, 0, input->value});
  }
}

std::string CallSignature::Dimension::what() const {
  return isInt() ? "value" : fmt::format("size of dimension {}", index);
}

std::string CallSignature::Dimension::place() const {
  return isInt() ? input->name : fmt::format("dimension {} of {}", index, input->name);
}

std::string CallSignature::Dimension::source() const {
  return isInt() ? input->name : fmt::format("{}.shape[{}]", input->name, index);
}

std::string CallSignature::Dimension::expressionText(const program::ExpressionPool &expressions) const {
  std::string text = expressions.print(size);
  return isInt() && text == input->name ? "" : " (" + text + ")";
}

static bool mentions(const program::ExpressionPool &expressions, program::SymInt expression,
                     program::SymInt symbol) {
  if (expression.isConstant() || expression == symbol)
    return expression == symbol;
  return std::ranges::any_of(expressions[expression].operands,
                             [&](program::SymInt operand) { return mentions(expressions, operand, symbol); });
}

/// Whether the capture took the int for a size, for another int, or for a number made of them, or one of
/// these for what is made of the int.
bool CallSignature::isTied(const EntryInput &input) const {
  const program::ExpressionPool &pool = entryPoint.expressions;
  if (input.value.isConstant()) // is not known
    return false;
  if (pool[input.value].kind != program::ExpressionKind::Symbol)
    return true;
  return std::ranges::any_of(tensors, [&](const EntryInput *other) {
    auto isMade = [&](program::SymInt size) { return mentions(pool, size, input.value); };
    return std::ranges::any_of(other->type.shape, isMade) || (other != &input && isMade(other->value));
  });
}

/// An int counts as a size if shapes depend on it, if it is tied to another one, or if it occurs in a
/// relation of several sizes that the capture assumed.
bool CallSignature::isAmongSizes(const EntryInput &input) const {
  if (!input.isSymInt)
    return false;
  return input.isInShapes || isTied(input) ||
         std::ranges::any_of(entryPoint.rangeConstraints, [&](const auto &constraint) {
           return !input.value.isConstant() && constraint.expression != input.value &&
                  mentions(entryPoint.expressions, constraint.expression, input.value);
         });
}

std::string CallSignature::inputNames() const {
  std::vector<std::pair<int64_t, std::string_view>> names;
  for (const EntryInput *input : tensors)
    names.emplace_back(input->position, input->name);
  for (const ConstantInput &constant : entryPoint.constantInputs)
    names.emplace_back(constant.position, constant.name);
  std::sort(names.begin(), names.end());
  std::vector<std::string_view> ordered;
  for (const auto &[position, name] : names)
    ordered.push_back(name);
  return ordered.empty() ? "none" : fmt::format("{}", fmt::join(ordered, ", "));
}

Status CallSignature::check(std::span<const Input> inputs, Sizes &sizes) const {
  if (static_cast<int64_t>(inputs.size()) != entryPoint.userInputCount)
    return invalidArgument("[{}] wrong number of inputs: got {}, expected {} ({})", entryPoint.name,
                           inputs.size(), entryPoint.userInputCount, inputNames());
  sizes.clear();
  for (const EntryInput *input : tensors)
    TORCHERE_TRY(checkInput(*input, inputs[static_cast<size_t>(input->position)], sizes));
  for (const ConstantInput &constant : entryPoint.constantInputs)
    TORCHERE_TRY(checkConstant(constant, inputs[static_cast<size_t>(constant.position)]));
  return {};
}

static std::string describe(const Constant &argument) {
  struct Printer {
    std::string operator()(std::monostate) const { return "None"; }
    std::string operator()(bool value) const { return value ? "True" : "False"; }
    std::string operator()(int64_t value) const { return fmt::format("{}", value); }
    std::string operator()(double value) const { return program::pythonText(value); }
    std::string operator()(const std::complex<double> &value) const { return program::pythonText(value); }
    std::string operator()(const std::string &value) const { return program::pythonText(value); }
    std::string operator()(DType value) const { return fmt::format("torch.{}", dtypeInfo(value).torchName); }
    std::string operator()(const program::Device &value) const {
      return fmt::format("device '{}'", value.name);
    }
    std::string operator()(const program::Layout &value) const { return "torch." + value.name; }
    std::string operator()(const program::MemoryFormat &value) const { return "torch." + value.name; }
    std::string operator()(const Constant::List &list) const {
      std::vector<std::string> texts;
      for (const Constant &element : list)
        texts.push_back(describe(element));
      return fmt::format("[{}]", fmt::join(texts, ", "));
    }
    std::string operator()(const program::OpReference &value) const { return value.name; }
  };
  return std::visit(Printer{}, argument.value);
}

/// The same of what a call gives, which may be long: it is cut.
static std::string describeGiven(const Constant &given) {
  constexpr size_t longest = 100;
  std::string text = describe(given);
  if (text.size() <= longest)
    return text;
  size_t end = longest - 3;
  while ((text[end] & 0xC0) == 0x80) // within a character of UTF-8
    --end;
  return text.substr(0, end) + "...";
}

/// " (a float)" for a number that is shown next to a number of another kind, otherwise "".
static const char *kindBeside(const Constant &argument, const Constant &other) {
  auto kind = [](const Constant &value) {
    return value.as<bool>()                   ? " (a bool)"
           : value.as<int64_t>()              ? " (an int)"
           : value.as<double>()               ? " (a float)"
           : value.as<std::complex<double>>() ? " (a complex)"
                                              : "";
  };
  bool differs = argument.value.index() != other.value.index() && *kind(argument) && *kind(other);
  return differs ? kind(argument) : "";
}

/// As an int, if it is one or a bool.
static std::optional<int64_t> integral(const Constant &number) {
  if (const bool *flag = number.as<bool>())
    return *flag;
  const int64_t *integer = number.as<int64_t>();
  return integer ? std::optional(*integer) : std::nullopt;
}

/// Numbers of different kinds, by Python's rules: True == 1 == 1.0.
static bool areEqualNumbers(const Constant &a, const Constant &b) {
  if (a.as<double>() && !b.as<double>())
    return areEqualNumbers(b, a);
  std::optional<int64_t> left = integral(a), right = integral(b);
  if (left && right)
    return *left == *right;
  const double *real = b.as<double>();
  constexpr double beyond = 9223372036854775808.0; // an int of 64 bits holds less
  return left && real && std::fabs(*real) < beyond && std::trunc(*real) == *real &&
         static_cast<int64_t>(*real) == *left;
}

static bool isEqual(const Constant &a, const Constant &b) {
  if (a.value.index() != b.value.index())
    return areEqualNumbers(a, b);
  if (const auto *list = a.as<Constant::List>())
    return std::equal(list->begin(), list->end(), b.as<Constant::List>()->begin(),
                      b.as<Constant::List>()->end(), isEqual);
  if (const auto *number = a.as<double>()) // the program was captured with a NaN, so it accepts NaN
    return *number == *b.as<double>() || (std::isnan(*number) && std::isnan(*b.as<double>()));
  return std::visit(
      [&](const auto &value) {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, Constant::List>)
          return false; // compared above
        else
          return value == std::get<Value>(b.value);
      },
      a.value);
}

Status CallSignature::checkConstant(const ConstantInput &constant, const Input &value) const {
  const auto *given = std::get_if<Constant>(&value);
  if (!given)
    return invalidArgument("[{}] wrong kind of input: got a tensor, expected {}", constant.name,
                           describe(constant.value));
  if (!isEqual(*given, constant.value))
    return invalidArgument(
        "[{}] wrong constant: got {}{}, expected {}{}, with which the program was captured", constant.name,
        describeGiven(*given), kindBeside(*given, constant.value), describe(constant.value),
        kindBeside(constant.value, *given));
  return {};
}

Status CallSignature::checkInput(const EntryInput &input, const Input &value, Sizes &sizes) const {
  if (const auto *given = std::get_if<Constant>(&value)) {
    if (input.isSymInt && given->as<int64_t>())
      return checkInt(input, *given->as<int64_t>(), sizes);
    return invalidArgument("[{}] wrong kind of input: got {}, expected {}", input.name, describeGiven(*given),
                           input.isSymInt ? "an int" : "a tensor");
  }
  if (input.isSymInt)
    return invalidArgument("[{}] wrong kind of input: got a tensor, expected an int", input.name);
  if (const auto *onDevice = std::get_if<DeviceTensor>(&value)) {
    const runtime::ArrayType &type = (*onDevice)->type();
    return checkTensor(input, type.dtype, type.shape, sizes);
  }
  const TensorView &tensor = std::get<TensorView>(value);
  if (tensor.device != "cpu")
    return invalidArgument("[{}] wrong device: got {}, expected cpu", input.name, tensor.device);
  return checkTensor(input, tensor.dtype, tensor.shape, sizes);
}

Status CallSignature::checkTensor(const EntryInput &input, DType dtype, std::span<const int64_t> given,
                                  Sizes &sizes) const {
  if (dtype != input.type.dtype)
    return invalidArgument("[{}] wrong dtype: got {}, expected {}", input.name, dtypeInfo(dtype).torchName,
                           dtypeInfo(input.type.dtype).torchName);
  const std::vector<program::SymInt> &shape = input.type.shape;
  if (given.size() != shape.size())
    return invalidArgument("[{}] wrong number of dimensions: got {}, expected {}", input.name, given.size(),
                           shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!shape[i].isConstant())
      sizes.push_back(given[i]);
    else if (given[i] != shape[i].constant())
      return invalidArgument("[{}] wrong size of dimension {}: got {}, expected {}", input.name, i, given[i],
                             shape[i].constant());
  }
  return {};
}

Status CallSignature::checkInt(const EntryInput &input, int64_t value, Sizes &sizes) const {
  auto isInput = [&](const Dimension &dimension) { return dimension.input == &input; };
  if (std::ranges::any_of(dimensions, isInput)) {
    sizes.push_back(value);
    return {};
  }
  for (const program::RangeConstraint &constraint : entryPoint.rangeConstraints)
    if (!input.value.isConstant() && constraint.expression == input.value &&
        (value < constraint.range.min || value > constraint.range.max))
      return invalidArgument("[{}] value{} out of range: got {}, expected {}", input.name,
                             Dimension{&input, 0, input.value}.expressionText(entryPoint.expressions), value,
                             rangeText(constraint.range));
  return {};
}

Status CallSignature::checkSizes(const Sizes &sizes) const {
  SizeSolver solver(*this, sizes);
  TORCHERE_TRY(solver.solve());
  return solver.checkRanges();
}

} // namespace torchere::session
