// What becomes of an op: the names of functional forms, and the ops that share memory unsaid.
#include "functionalization/op_rule.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

namespace torchere::functionalization {

using schema::Schema;

bool writes(const Schema &schema) {
  return std::ranges::any_of(schema.arguments,
                             [](const schema::Argument &argument) { return argument.type.isWritten(); });
}

namespace {

/// In-place ops whose functional form has another name than theirs without the underscore.
std::string_view packetOf(std::string_view inPlace) {
  static const std::unordered_map<std::string_view, std::string_view> renamed = {
      {"__iadd__", "add"},
      {"__isub__", "sub"},
      {"__imul__", "mul"},
      {"__idiv__", "div"},
      {"__iand__", "bitwise_and"},
      {"__ior__", "bitwise_or"},
      {"__ixor__", "bitwise_xor"},
      {"__ilshift__", "__lshift__"},
      {"__irshift__", "__rshift__"},
      {"multiply_", "mul"},
      {"subtract_", "sub"},
      {"divide_", "div"},
      {"true_divide_", "div"},
      {"negative_", "neg"},
      {"absolute_", "abs"},
      {"clip_", "clamp"},
      {"normal_", "normal_functional"},
  };
  if (auto found = renamed.find(inPlace); found != renamed.end())
    return found->second;
  bool isPlain = inPlace.size() > 1 && inPlace.ends_with('_') && !inPlace.starts_with("__");
  return isPlain ? inPlace.substr(0, inPlace.size() - 1) : std::string_view();
}

/// "aten.add.Tensor" of "aten.add_.Tensor"; empty when there is no functional form.
std::string functionalName(std::string_view op, const Schema &schema) {
  static const std::unordered_set<std::string_view> refused = {"set_", "resize_", "resize_as_", "rename_"};
  // Overloads of other names.
  static const std::unordered_map<std::string_view, std::string_view> renamed = {
      {"aten.bernoulli_.float", "aten.bernoulli.p"},
      {"aten.float_power_.Scalar", "aten.float_power.Tensor_Scalar"},
      {"aten.float_power_.Tensor", "aten.float_power.Tensor_Tensor"},
      {"aten.floor_divide_.Tensor", "aten.floor_divide.default"},
      {"aten.ldexp_.default", "aten.ldexp.Tensor"},
      {"aten.pow_.Scalar", "aten.pow.Tensor_Scalar"},
      {"aten.pow_.Tensor", "aten.pow.Tensor_Tensor"},
  };
  if (auto found = renamed.find(op); found != renamed.end())
    return std::string(found->second);
  size_t begin = op.find('.') + 1, end = op.find('.', begin);
  bool isAten = op.starts_with("aten.") && end != std::string_view::npos;
  auto isWritten = [](const schema::Argument &argument) { return argument.type.isWritten(); };
  bool writesFirst = std::ranges::count_if(schema.arguments, isWritten) == 1 &&
                     isWritten(schema.arguments.front()) &&
                     schema.arguments.front().type.kind == schema::TypeKind::Tensor;
  std::string_view packet = isAten ? op.substr(begin, end - begin) : std::string_view();
  std::string_view functional = packetOf(packet);
  if (!writesFirst || functional.empty() || refused.contains(packet))
    return "";
  return fmt::format("aten.{}{}", functional, op.substr(end));
}

bool isRemovedInEval(std::string_view op) {
  static const std::unordered_set<std::string_view> names = {
      "aten.dropout.default",
      "aten.dropout_.default",
      "aten.feature_dropout.default",
      "aten.feature_dropout_.default",
      "aten.alpha_dropout.default",
      "aten.alpha_dropout_.default",
      "aten.feature_alpha_dropout.default",
      "aten.feature_alpha_dropout_.default",
  };
  return names.contains(op);
}

} // namespace

std::optional<size_t> viewedArgument(const Schema &schema) {
  if (schema.name == "aten._unsafe_view.default")
    return 0;
  for (const schema::Argument &result : schema.results) {
    const std::optional<schema::AliasSet> &alias = result.type.leaf().alias;
    if (!alias || alias->isWrite)
      continue;
    for (size_t i = 0; i < schema.arguments.size(); ++i) {
      const schema::Type &type = schema.arguments[i].type;
      if (type.kind == schema::TypeKind::Tensor && type.alias && !type.alias->isWrite)
        return i;
    }
  }
  return std::nullopt;
}

FunctionalForm functionalForm(std::string_view op, const Schema &schema) {
  if (findRewrite(op))
    return {FormKind::Rewritten, ""};
  std::string functional = writes(schema) ? functionalName(op, schema) : "";
  if (isRemovedInEval(op))
    return {FormKind::RemovedInEval, functional};
  if (!writes(schema))
    return {FormKind::Kept, ""};
  if (functional.empty())
    return {op.starts_with("aten.") ? FormKind::Refused : FormKind::Kept, ""};
  return {FormKind::Functional, functional};
}

OpRule ruleOf(const program::Op &op) {
  if (!op.schema)
    return {};
  OpRule rule{functionalForm(op.name, *op.schema), findRewrite(op.name), std::nullopt};
  if (rule.form.kind == FormKind::Kept)
    rule.viewed = viewedArgument(*op.schema);
  return rule;
}

} // namespace torchere::functionalization
