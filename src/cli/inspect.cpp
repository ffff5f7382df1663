// torchere inspect: a saved program's inputs, outputs and sizes.
#include "artifact/argument_json.h"
#include "artifact/bundle.h"
#include "artifact/function_module.h"
#include "cli/composite_list.h"
#include "cli/op_count.h"
#include "cli/subcommand.h"
#include "program/entry_point.h"
#include "program/weight_memory.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

namespace torchere::cli {

using namespace program;

static std::string typeText(const TensorSignature &type, const ExpressionPool &expressions) {
  return fmt::format("{} {}", dtypeInfo(type.dtype).torchName, shapeText(type.shape, expressions));
}

static OrderedJson typeJson(const TensorSignature &type, const ExpressionPool &expressions) {
  OrderedJson shape = OrderedJson::array();
  for (SymInt size : type.shape)
    shape.push_back(size.isConstant() ? OrderedJson(size.constant()) : OrderedJson(expressions.print(size)));
  return {{"dtype", dtypeInfo(type.dtype).torchName}, {"shape", shape}};
}

static void addRow(OrderedJson &list, std::vector<std::vector<std::string>> &rows, const std::string &kind,
                   const std::string &name, const TensorSignature &type, const ExpressionPool &expressions) {
  OrderedJson json = {{"name", name}, {"kind", kind}};
  json.update(typeJson(type, expressions));
  list.push_back(std::move(json));
  rows.push_back({name, typeText(type, expressions), kind});
}

static void addConstant(OrderedJson &list, std::vector<std::vector<std::string>> &rows,
                        const std::string &name, const Constant &value) {
  OrderedJson text = artifact::argumentToJson(value, name).value_or(nullptr);
  list.push_back({{"name", name}, {"kind", "constant"}, {"value", text}});
  rows.push_back({name, printJson(text, 0), "constant"});
}

/// The user's inputs in the order of their positions; weights and constants are only counted.
static void describeInputs(const EntryPoint &entry, OrderedJson &json, Report &report) {
  std::map<int64_t, std::pair<const EntryInput *, const char *>> byPosition;
  std::map<int64_t, const ConstantInput *> constants;
  for (const EntryInput &input : entry.inputs)
    if (input.source == InputSource::UserInput)
      byPosition[input.position] = {&input, input.isSymInt ? "int" : "tensor"};
  for (const EntryInput &input : entry.unusedInputs)
    if (input.source == InputSource::UserInput)
      byPosition[input.position] = {&input, "not read"};
  for (const ConstantInput &input : entry.constantInputs)
    constants[input.position] = &input;
  json["inputs"] = OrderedJson::array();
  std::vector<std::vector<std::string>> rows;
  for (int64_t position = 0; position < entry.userInputCount; ++position) {
    if (auto input = byPosition.find(position); input != byPosition.end()) {
      const EntryInput &given = *input->second.first;
      addRow(json["inputs"], rows, input->second.second, given.name, given.type, entry.expressions);
      std::string value = given.value.isConstant() ? "" : entry.expressions.print(given.value);
      if (given.isSymInt && !value.empty() && value != given.name) { // what it has to equal
        json["inputs"].back()["value"] = value;
        rows.back().back() += ", equal to " + value;
      }
    } else if (auto constant = constants.find(position); constant != constants.end()) {
      addConstant(json["inputs"], rows, constant->second->name, constant->second->value);
    }
  }
  report.line("  inputs");
  report.table(rows, "    ");
}

static const char *kindOfNumber(DType dtype) {
  return dtype == DType::Bool ? "bool" : dtype == DType::F64 ? "float" : "int";
}

static void describeOutputs(const EntryPoint &entry, OrderedJson &json, Report &report) {
  json["outputs"] = OrderedJson::array();
  std::vector<std::vector<std::string>> rows;
  for (const EntryOutput &output : entry.outputs) {
    bool isUsers = output.destination == OutputDestination::UserOutput;
    std::string kind = isUsers ? (output.isNumber ? kindOfNumber(output.type.dtype) : "tensor")
                       : output.destination == OutputDestination::UserInput ? "new value of an input"
                       : output.destination == OutputDestination::Check     ? "status of checks"
                                                                            : "state";
    std::string name = isUsers || output.target.empty() ? output.name : output.target;
    addRow(json["outputs"], rows, kind, name, output.type, entry.expressions);
  }
  for (const ConstantOutput &output : entry.constantOutputs)
    addConstant(json["outputs"], rows, fmt::format("output_{}", output.position), output.value);
  report.line("  outputs");
  report.table(rows, "    ");
}

static std::string rangeText(const Range &range) {
  constexpr Range unbounded;
  if (range.max == unbounded.max)
    return range.min == unbounded.min ? "any" : fmt::format("at least {}", range.min);
  if (range.min == unbounded.min)
    return fmt::format("at most {}", range.max);
  return fmt::format("{} to {}", range.min, range.max);
}

static void describeRanges(const EntryPoint &entry, OrderedJson &json, Report &report) {
  constexpr Range unbounded;
  json["ranges"] = OrderedJson::array();
  std::vector<std::vector<std::string>> rows;
  for (const RangeConstraint &constraint : entry.rangeConstraints) {
    if (constraint.expression.isConstant())
      continue;
    std::string expression = entry.expressions.print(constraint.expression);
    const Range &range = constraint.range;
    auto bound = [](int64_t value, int64_t none) {
      return value == none ? OrderedJson(nullptr) : OrderedJson(value);
    };
    json["ranges"].push_back({{"expression", expression},
                              {"min", bound(range.min, unbounded.min)},
                              {"max", bound(range.max, unbounded.max)}});
    rows.push_back({expression, rangeText(range)});
  }
  if (!rows.empty()) {
    report.line("  sizes");
    report.table(rows, "    ");
  }
}

static void describeComposites(const std::string &text, OrderedJson &json, Report &report) {
  json["composites"] = OrderedJson::array();
  std::vector<std::vector<std::string>> rows;
  for (const ListedComposite &composite : listComposites(text)) {
    json["composites"].push_back(
        {{"name", composite.name}, {"attributes", composite.attributes}, {"count", composite.count}});
    rows.push_back({std::to_string(composite.count), composite.name, composite.attributes});
  }
  if (!rows.empty()) {
    report.line("  composites");
    report.table(rows, "    ");
  }
}

static Status describeOps(const artifact::Function &function, OrderedJson &json, Report &report) {
  TORCHERE_ASSIGN(std::string text, artifact::moduleText(function));
  std::map<std::string, size_t> counts = countOps(text);
  std::vector<std::pair<std::string, size_t>> ordered(counts.begin(), counts.end());
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](auto &left, auto &right) { return left.second > right.second; });
  json["ops"] = OrderedJson::object();
  std::vector<std::vector<std::string>> rows;
  size_t total = 0;
  for (const auto &[name, count] : ordered) {
    json["ops"][name] = count;
    rows.push_back({std::to_string(count), name});
    total += count;
  }
  report.line("  {} ops", total);
  report.table(rows, "    ");
  describeComposites(text, json, report);
  return {};
}

static void describeWeights(const artifact::Bundle &bundle, Report &report) {
  report.json["has_weights"] = bundle.hasWeights;
  report.json["weights"] = OrderedJson::array();
  std::map<std::string, const Weight *> sorted;
  if (bundle.hasWeights)
    for (const auto &[name, weight] : bundle.stateDict)
      sorted.emplace(name, &weight);
  std::vector<std::vector<std::string>> rows;
  std::map<const Storage *, std::string> owners; // tied weights are counted once
  uint64_t total = 0;
  for (const auto &[name, weight] : sorted) {
    uint64_t size = static_cast<uint64_t>(weight->elementCount()) * byteSize(weight->dtype);
    auto [owner, isFirst] = owners.emplace(weight->storage.get(), name);
    total += isFirst && hasData(*weight) ? size : 0;
    OrderedJson json = {{"name", name},
                        {"dtype", dtypeInfo(weight->dtype).torchName},
                        {"shape", weight->shape},
                        {"bytes", size}};
    if (!isFirst)
      json["same_as"] = owner->second;
    if (!hasData(*weight))
      json["has_data"] = false;
    report.json["weights"].push_back(std::move(json));
    rows.push_back({name, fmt::format("{} {}", dtypeInfo(weight->dtype).torchName, shapeText(weight->shape)),
                    !isFirst           ? "= " + owner->second
                    : hasData(*weight) ? byteSizeText(size)
                                       : "no data"});
  }
  report.json["weight_bytes"] = total;
  if (bundle.hasWeights)
    report.line("{} weight{}, {}", rows.size(), rows.size() == 1 ? "" : "s", byteSizeText(total));
  else
    report.line("saved without weights");
  report.table(rows, "  ");
}

static Status inspect(const std::string &path, Report &report) {
  TORCHERE_ASSIGN(artifact::Bundle bundle, artifact::load(path));
  report.json["path"] = path;
  report.json["functions"] = OrderedJson::array();
  for (const artifact::Function &function : bundle.functions) {
    const EntryPoint &entry = function.entryPoint;
    OrderedJson json = {{"name", entry.name}};
    report.line("{}", entry.name);
    describeInputs(entry, json, report);
    describeOutputs(entry, json, report);
    describeRanges(entry, json, report);
    TORCHERE_TRY(describeOps(function, json, report));
    report.json["functions"].push_back(std::move(json));
  }
  describeWeights(bundle, report);
  return {};
}

void addInspect(CLI::App &app, Action &action) {
  CLI::App *command = app.add_subcommand("inspect", "Show a saved program's inputs, outputs and sizes");
  auto path = std::make_shared<std::string>();
  command->add_option("DIR", *path, "Directory or file of the program")->required();
  command->callback([&action, path] { action = [path](Report &report) { return inspect(*path, report); }; });
}

} // namespace torchere::cli
