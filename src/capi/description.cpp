// Descriptions of inputs and outputs, made once for each program.
#include "capi/description.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <optional>

namespace torchere::capi {

using program::Constant;
using program::EntryInput;
using program::EntryPoint;
using program::SymInt;

static constexpr int64_t least = std::numeric_limits<int64_t>::min();
static constexpr int64_t most = std::numeric_limits<int64_t>::max();

/// What the program says of an expression's values.
static program::Range rangeOf(SymInt expression, const EntryPoint &entryPoint) {
  if (expression.isConstant())
    return {expression.constant(), expression.constant()};
  for (const program::RangeConstraint &constraint : entryPoint.rangeConstraints)
    if (constraint.expression == expression)
      return constraint.range;
  return {least, most};
}

ValueDescription::ValueDescription(std::string name, const program::TensorSignature &type,
                                   const EntryPoint &entryPoint)
    : valueName(std::move(name)), elementType(numberOf(type.dtype)) {
  names.reserve(type.shape.size()); // elements must not move: their texts are pointed to
  for (SymInt size : type.shape) {
    program::Range range = rangeOf(size, entryPoint);
    dims.push_back(size.isConstant() ? size.constant() : TORCHERE_DYNAMIC);
    minimums.push_back(std::max<int64_t>(range.min, 0));
    maximums.push_back(range.max);
    names.push_back(size.isConstant() ? "" : entryPoint.expressions.print(size));
    namePointers.push_back(size.isConstant() ? nullptr : names.back().c_str());
  }
}

ValueDescription::ValueDescription(std::string name, const program::Weight &weight)
    : valueName(std::move(name)), elementType(numberOf(weight.dtype)), dims(weight.shape), minimums(dims),
      maximums(dims), namePointers(dims.size(), nullptr) {}

/// A constant that has no form in C, as Python writes it.
static std::string textOf(const Constant &value) {
  struct Printer {
    std::string operator()(std::monostate) const { return "None"; }
    std::string operator()(bool flag) const { return flag ? "True" : "False"; }
    std::string operator()(int64_t integer) const { return fmt::format("{}", integer); }
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(const std::complex<double> &number) const {
      return fmt::format("({}{:+}j)", number.real(), number.imag());
    }
    std::string operator()(const std::string &text) const { return "'" + text + "'"; }
    std::string operator()(DType dtype) const { return fmt::format("torch.{}", dtypeInfo(dtype).torchName); }
    std::string operator()(const program::Device &device) const { return device.name; }
    std::string operator()(const program::Layout &layout) const { return "torch." + layout.name; }
    std::string operator()(const program::MemoryFormat &format) const { return "torch." + format.name; }
    std::string operator()(const program::OpReference &op) const { return op.name; }
    std::string operator()(const Constant::List &list) const {
      std::vector<std::string> texts;
      for (const Constant &element : list)
        texts.push_back(textOf(element));
      return fmt::format("[{}]", fmt::join(texts, ", "));
    }
  };
  return std::visit(Printer{}, value.value);
}

ValueDescription::ValueDescription(std::string name, const Constant &value)
    : valueName(std::move(name)), constant(true) {
  if (const auto *flag = value.as<bool>()) {
    valueKind = TORCHERE_KIND_BOOL;
    integer = *flag;
  } else if (const auto *whole = value.as<int64_t>()) {
    valueKind = TORCHERE_KIND_INT;
    integer = *whole;
  } else if (const auto *real = value.as<double>()) {
    valueKind = TORCHERE_KIND_FLOAT;
    number = *real;
  } else if (const auto *given = value.as<std::string>()) {
    valueKind = TORCHERE_KIND_STRING;
    text = *given;
  } else if (value.isNone()) {
    valueKind = TORCHERE_KIND_NONE;
  } else {
    valueKind = TORCHERE_KIND_OTHER;
    text = textOf(value);
  }
}

void ValueDescription::setInt(SymInt value, const EntryPoint &entryPoint) {
  program::Range range = value.isConstant() ? program::Range{} : rangeOf(value, entryPoint);
  valueKind = TORCHERE_KIND_INT;
  minimums = {range.min};
  maximums = {range.max};
}

void ValueDescription::setNumber() {
  valueKind = elementType == TORCHERE_FLOAT64 ? TORCHERE_KIND_FLOAT
              : elementType == TORCHERE_BOOL  ? TORCHERE_KIND_BOOL
                                              : TORCHERE_KIND_INT;
}

void ValueDescription::fill(torchere_value_info &info) const {
  info.name = valueName.c_str();
  info.kind = valueKind;
  info.is_constant = constant;
  info.dtype = elementType;
  info.rank = dims.size();
  info.dims = dims.data();
  info.dim_names = namePointers.data();
  info.dim_minimums = minimums.data();
  info.dim_maximums = maximums.data();
  info.integer = integer;
  info.number = number;
  info.string = text.c_str();
}

namespace {
/// Descriptions by position, each of which must be filled once.
struct Places {
  explicit Places(int64_t count, const char *what) : places(static_cast<size_t>(count)), what(what) {}
  Status set(int64_t position, ValueDescription description) {
    if (position < 0 || static_cast<size_t>(position) >= places.size() ||
        places[static_cast<size_t>(position)])
      return fail(ErrorCode::Internal, "[{}] a wrong position among the {}: got {}", description.name(), what,
                  position);
    places[static_cast<size_t>(position)].emplace(std::move(description));
    return {};
  }
  Result<std::vector<ValueDescription>> take(const std::string &function) {
    std::vector<ValueDescription> list;
    list.reserve(places.size());
    for (auto &place : places) {
      if (!place)
        return fail(ErrorCode::Internal, "[{}] {} are not described: got {}, expected {}", function, what,
                    list.size(), places.size());
      list.push_back(std::move(*place));
    }
    return list;
  }
  std::vector<std::optional<ValueDescription>> places;
  const char *what;
};
} // namespace

Result<FunctionDescription> FunctionDescription::create(const EntryPoint &entryPoint) {
  FunctionDescription description(entryPoint);
  Places inputs(entryPoint.userInputCount, "inputs"), outputs(entryPoint.userOutputCount, "outputs");
  for (const auto *list : {&entryPoint.inputs, &entryPoint.unusedInputs})
    for (const EntryInput &input : *list) {
      if (input.source != program::InputSource::UserInput)
        continue;
      ValueDescription value(input.name, input.type, entryPoint);
      if (input.isSymInt)
        value.setInt(input.value, entryPoint);
      TORCHERE_TRY(inputs.set(input.position, std::move(value)));
    }
  for (const program::ConstantInput &constant : entryPoint.constantInputs)
    TORCHERE_TRY(inputs.set(constant.position, ValueDescription(constant.name, constant.value)));
  std::vector<std::string> names = outputNames(entryPoint);
  auto nameAt = [&](int64_t position) {
    auto index = static_cast<size_t>(position);
    return index < names.size() ? names[index] : "output";
  };
  for (const program::EntryOutput &output : entryPoint.outputs) {
    if (output.destination == program::OutputDestination::UserInput)
      description.mutated.push_back(static_cast<size_t>(output.position));
    if (output.destination != program::OutputDestination::UserOutput)
      continue;
    ValueDescription value(nameAt(output.position), output.type, entryPoint);
    if (output.isNumber)
      value.setNumber();
    TORCHERE_TRY(outputs.set(output.position, std::move(value)));
  }
  for (const program::ConstantOutput &constant : entryPoint.constantOutputs)
    TORCHERE_TRY(outputs.set(constant.position, ValueDescription(nameAt(constant.position), constant.value)));
  TORCHERE_ASSIGN(description.inputList, inputs.take(entryPoint.name));
  TORCHERE_ASSIGN(description.outputList, outputs.take(entryPoint.name));
  for (size_t input : description.mutated)
    TORCHERE_TRY(
        input < description.inputList.size()
            ? Status()
            : Status(fail(ErrorCode::Internal, "[{}] a wrong input is mutated: {}", entryPoint.name, input)));
  return description;
}

const ValueDescription &FunctionDescription::resultAt(size_t index) const {
  return index < outputList.size() ? outputList[index] : inputList[mutated[index - outputList.size()]];
}

/// Errors list the names.
template <class At>
static Result<size_t> findName(std::string_view name, const char *what, size_t count, At at) {
  for (size_t i = 0; i < count; ++i)
    if (at(i).name() == name)
      return i;
  std::vector<std::string_view> names;
  for (size_t i = 0; i < count; ++i)
    names.push_back(at(i).name());
  return fail(ErrorCode::NotFound, "[{}] no such {}: expected one of {}", name, what,
              names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
}

Result<size_t> FunctionDescription::findInput(std::string_view name) const {
  return findName(name, "input", inputList.size(), [&](size_t i) -> auto & { return inputList[i]; });
}

Result<size_t> FunctionDescription::findOutput(std::string_view name) const {
  return findName(name, "output", outputList.size(), [&](size_t i) -> auto & { return outputList[i]; });
}

Result<size_t> FunctionDescription::findResult(std::string_view name) const {
  return findName(name, "output", resultCount(), [&](size_t i) -> auto & { return resultAt(i); });
}

} // namespace torchere::capi
