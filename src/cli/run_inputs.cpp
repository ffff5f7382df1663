// The --input options of `torchere run`, turned into the arguments of a call.
#include "cli/run_inputs.h"

#include "artifact/weight_file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>

namespace torchere::cli {

using program::EntryInput;

std::map<int64_t, const EntryInput *> givenInputs(const program::EntryPoint &entryPoint) {
  std::map<int64_t, const EntryInput *> inputs;
  for (const auto *list : {&entryPoint.inputs, &entryPoint.unusedInputs})
    for (const EntryInput &input : *list)
      if (input.source == program::InputSource::UserInput)
        inputs.emplace(input.position, &input);
  return inputs;
}

static std::string namesOf(const std::map<int64_t, const EntryInput *> &inputs) {
  std::vector<std::string_view> names;
  for (const auto &[position, input] : inputs)
    names.push_back(input->name);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

static std::optional<int64_t> asInteger(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// An int, whether or not 64 bits hold it.
static bool isInteger(std::string_view text) {
  text.remove_prefix(text.starts_with('-'));
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

Status RunInputs::set(const EntryInput &input, const std::string &text) {
  if (std::optional<int64_t> integer = asInteger(text); integer && input.isSymInt) {
    list[static_cast<size_t>(input.position)] = program::Constant{*integer};
    return {};
  }
  if (input.isSymInt && isInteger(text))
    return invalidArgument("[{}] wrong value: got {}, expected an int of 64 bits", input.name, text);
  // Raw bytes carry no dtype: the program's is used.
  bool isRaw = dtypeInfo(input.type.dtype).descr.starts_with("|V");
  TORCHERE_ASSIGN(
      program::Weight array,
      artifact::mapWeight(text, input.name, isRaw ? std::optional(input.type.dtype) : std::nullopt));
  set(input, std::move(array));
  return {};
}

void RunInputs::set(const EntryInput &input, program::Weight array) {
  const program::Weight &kept = arrays.emplace_back(std::move(array));
  list[static_cast<size_t>(input.position)] =
      session::TensorView{kept.data(), kept.dtype, kept.shape, kept.strides, "cpu", kept.storage};
}

RunInputs::RunInputs(const program::EntryPoint &entryPoint) {
  list.resize(static_cast<size_t>(entryPoint.userInputCount), program::Constant());
  for (const program::ConstantInput &constant : entryPoint.constantInputs)
    list[static_cast<size_t>(constant.position)] = constant.value;
}

Result<RunInputs> RunInputs::read(const program::EntryPoint &entryPoint,
                                  const std::vector<std::string> &texts) {
  RunInputs result(entryPoint);
  const std::map<int64_t, const EntryInput *> inputs = givenInputs(entryPoint);
  std::map<int64_t, const EntryInput *> missing = inputs;
  for (const std::string &text : texts) {
    size_t equals = text.find('=');
    bool isNamed = equals != std::string::npos && !std::filesystem::exists(text);
    auto found = std::find_if(inputs.begin(), inputs.end(), [&](const auto &entry) {
      return isNamed ? entry.second->name == std::string_view(text).substr(0, equals)
                     : missing.contains(entry.first);
    });
    if (found == inputs.end() && isNamed)
      return fail(ErrorCode::NotFound, "[{}] no such input: expected one of {}", text.substr(0, equals),
                  namesOf(inputs));
    if (found == inputs.end())
      return invalidArgument("[{}] too many inputs: got {}, expected {} ({})", entryPoint.name, texts.size(),
                             inputs.size(), namesOf(inputs));
    if (missing.erase(found->first) == 0)
      return invalidArgument("[{}] the input is given twice", found->second->name);
    TORCHERE_TRY(result.set(*found->second, isNamed ? text.substr(equals + 1) : text));
  }
  if (!missing.empty())
    return invalidArgument("[{}] inputs are missing: got {}, expected {} more (--input, for {})",
                           entryPoint.name, texts.size(), missing.size(), namesOf(missing));
  return result;
}

} // namespace torchere::cli
