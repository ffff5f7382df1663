// Program::print: the program as torch prints an ExportedProgram.
#include "program/program.h"
#include "program/python_text.h"
#include "program/stack_trace.h"

#include <algorithm>
#include <array>

namespace torchere::program {

using Lines = std::vector<std::string>;

struct OperatorForm {
  std::string_view name;
  std::string_view form; ///< "{}" for each operand
};

/// Operators of Python that torch prints as such.
static constexpr std::array<OperatorForm, 23> operatorForms = {{
    {"eq", "{} == {}"},       {"ne", "{} != {}"},     {"lt", "{} < {}"},     {"gt", "{} > {}"},
    {"le", "{} <= {}"},       {"ge", "{} >= {}"},     {"pos", "+{}"},        {"neg", "-{}"},
    {"invert", "~{}"},        {"add", "{} + {}"},     {"sub", "{} - {}"},    {"mul", "{} * {}"},
    {"floordiv", "{} // {}"}, {"truediv", "{} / {}"}, {"mod", "{} % {}"},    {"pow", "{} ** {}"},
    {"lshift", "{} << {}"},   {"rshift", "{} >> {}"}, {"and_", "{} & {}"},   {"or_", "{} | {}"},
    {"xor", "{} ^ {}"},       {"getitem", "{}[{}]"},  {"matmul", "{} @ {}"},
}};

static std::string join(const std::vector<std::string> &items, std::string_view separator) {
  return fmt::format("{}", fmt::join(items, separator));
}

/// The printed name of a callable: "torch.ops.aten.add.Tensor", "torch.sym_max", "math_ceil".
static std::string callableText(std::string op) {
  if (op.starts_with("torch."))
    return op;
  if (op.starts_with("math.") || op.starts_with("_operator.") || op.find('.') == std::string::npos) {
    std::replace(op.begin(), op.end(), '.', '_');
    return op;
  }
  return "torch.ops." + op;
}

class GraphPrinter {
public:
  GraphPrinter(const Program &program, const Graph &graph) : program(program), graph(graph) {}

  /// The lines of the graph's class, followed by those of its children; the last one is empty.
  Lines print(std::string_view className) {
    countUses();
    Lines lines = {fmt::format("class {}(torch.nn.Module):", className), "    " + headLine()};
    size_t first = lines.size();
    for (NodeId id = 0; id < graph.nodes.size(); ++id)
      if (graph.nodes[id].kind != NodeKind::Placeholder)
        printNode(id, lines);
    if (first < lines.size() && lines[first].empty())
      lines.erase(lines.begin() + static_cast<ptrdiff_t>(first));
    lines.push_back("        return " + outputText());
    lines.push_back("");
    for (uint32_t child : graph.children) {
      const Graph &inner = program.subgraphs[child];
      for (std::string &line : GraphPrinter(program, inner).print(inner.name))
        lines.push_back(line.empty() ? "" : "    " + line);
    }
    return lines;
  }

private:
  /// Fills `lastUses`: for each node, the values that no later node reads, in the order in which torch
  /// deletes them.
  void countUses() {
    lastUses.resize(graph.nodes.size() + 1);
    std::vector<bool> isUsed(graph.nodes.size(), false);
    auto visit = [&](NodeId user, const Argument &argument, auto &&self) -> void {
      if (const auto *reference = argument.as<NodeReference>(); reference && !isUsed[reference->node]) {
        isUsed[reference->node] = true;
        lastUses[user].push_back(reference->node);
      }
      if (const auto *list = argument.as<Argument::List>())
        for (const Argument &item : *list)
          self(user, item, self);
    };
    NodeId end = static_cast<NodeId>(graph.nodes.size());
    for (const Argument &output : graph.outputs)
      visit(end, output, visit);
    for (NodeId id = end; id-- > 0;) {
      bool isRead = isUsed[id];
      for (const Argument &argument : graph.nodes[id].arguments)
        visit(id, argument, visit);
      if (!isRead)
        lastUses[id].push_back(id);
    }
  }

  std::string symText(SymInt value) const { return program.expressions.print(value); }

  std::string typeText(const Node &node) const {
    if (const auto *tensor = node.type.as<TensorType>()) {
      std::vector<std::string> sizes;
      for (SymInt size : tensor->shape)
        sizes.push_back(symText(size));
      return fmt::format(": \"{}[{}]\"", dtypeInfo(tensor->dtype).shortName, join(sizes, ", "));
    }
    if (const auto *symInt = node.type.as<SymIntType>())
      return fmt::format(": \"Sym({})\"", symText(symInt->value));
    if (const auto *symFloat = node.type.as<SymFloatType>())
      return fmt::format(": \"Sym({})\"", symFloat->text);
    if (const auto *symBool = node.type.as<SymBoolType>())
      return fmt::format(": \"Sym({})\"", symBool->text);
    return "";
  }

  std::string headLine() const {
    std::vector<std::string> parameters = {"self"};
    for (NodeId id = 0; id < graph.nodes.size(); ++id)
      if (graph.nodes[id].kind == NodeKind::Placeholder)
        parameters.push_back(graph.nameOf(id) + typeText(graph.nodes[id]));
    return fmt::format("def forward({}):", join(parameters, ", "));
  }

  void printNode(NodeId id, Lines &lines) {
    const Node &node = graph.nodes[id];
    std::string summary = "# No stacktrace found for following nodes";
    if (std::optional<StackFrame> frame = innermostFrame(program.stackTraces[node.stackTrace()]))
      summary = fmt::format("# File: {}:{} in {}, code: {}", frame->file, frame->line, frame->function,
                            frame->code);
    if (summary != lastSummary) {
      lines.push_back("");
      lines.push_back("        " + summary);
      lastSummary = summary;
    }
    std::string right = node.kind == NodeKind::GetAttr ? "self." + node.op() : callText(node);
    std::string line = fmt::format("        {}{} = {}", graph.nameOf(id), typeText(node), right);
    if (!lastUses[id].empty()) {
      line += ";  ";
      for (NodeId dead : lastUses[id])
        line += graph.nameOf(dead) + " = ";
      line += "None";
    }
    lines.push_back(std::move(line));
  }

  std::string callText(const Node &node) const {
    std::vector<std::string> arguments = argumentTexts(node);
    constexpr std::string_view operatorModule = "_operator.";
    if (node.op().starts_with(operatorModule))
      for (const OperatorForm &operatorForm : operatorForms)
        if (operatorForm.name == std::string_view(node.op()).substr(operatorModule.size()))
          return operatorText(operatorForm.form, arguments);
    return fmt::format("{}({})", callableText(node.op()), join(arguments, ", "));
  }

  /// Positional arguments, then keyword arguments in the captured call's order; without a label, those that
  /// the schema makes keyword-only.
  std::vector<std::string> argumentTexts(const Node &node) const {
    std::vector<uint16_t> keywords;
    if (node.label)
      keywords.assign(node.label->keywords.begin(), node.label->keywords.end());
    else if (node.callee->schema)
      for (size_t i = 0; i < node.arguments.size(); ++i)
        if (node.callee->schema->arguments[i].isKeywordOnly)
          keywords.push_back(static_cast<uint16_t>(i));
    std::vector<std::string> texts;
    for (size_t i = 0; i < node.arguments.size(); ++i)
      if (node.arguments[i].isGiven() && std::find(keywords.begin(), keywords.end(), i) == keywords.end())
        texts.push_back(argumentText(node.arguments[i]));
    for (uint16_t i : keywords)
      if (node.arguments[i].isGiven())
        texts.push_back(node.callee->argumentNames[i] + " = " + argumentText(node.arguments[i]));
    return texts;
  }

  static std::string operatorText(std::string_view form, const std::vector<std::string> &operands) {
    std::string text(form);
    size_t at = 0;
    for (const std::string &operand : operands) {
      at = text.find("{}", at);
      if (at == std::string::npos)
        break;
      text.replace(at, 2, operand);
      at += operand.size();
    }
    return text;
  }

  template <class List> std::string listText(const List &list, bool isTuple) const {
    std::vector<std::string> items;
    for (const auto &item : list)
      items.push_back(argumentText(item));
    if (!isTuple)
      return fmt::format("[{}]", join(items, ", "));
    return fmt::format("({}{})", join(items, ", "), items.size() == 1 ? "," : "");
  }

  static std::string deviceText(const std::string &name) {
    size_t colon = name.find(':');
    if (colon == std::string::npos)
      return fmt::format("device(type='{}')", name);
    return fmt::format("device(type='{}', index={})", name.substr(0, colon), name.substr(colon + 1));
  }

  std::string argumentText(const Argument &argument) const {
    if (const auto *reference = argument.as<NodeReference>())
      return graph.nameOf(reference->node);
    if (const auto *child = argument.as<GraphReference>())
      return program.subgraphs[child->index].name;
    if (const auto *list = argument.as<Argument::List>())
      return listText(*list, list->isTuple);
    return argumentText(*argument.constant());
  }

  std::string argumentText(const Constant &constant) const {
    if (const auto *number = constant.as<int64_t>())
      return fmt::format("{}", *number);
    if (const auto *number = constant.as<double>())
      return pythonText(*number);
    if (const auto *flag = constant.as<bool>())
      return *flag ? "True" : "False";
    if (const auto *number = constant.as<std::complex<double>>())
      return pythonText(*number);
    if (const auto *text = constant.as<std::string>())
      return pythonText(std::string_view(*text));
    if (const auto *dtype = constant.as<DType>())
      return fmt::format("torch.{}", dtypeInfo(*dtype).torchName);
    if (const auto *device = constant.as<Device>())
      return deviceText(device->name);
    if (const auto *layout = constant.as<Layout>())
      return "torch." + layout->name;
    if (const auto *format = constant.as<MemoryFormat>())
      return "torch." + format->name;
    if (const auto *op = constant.as<OpReference>())
      return callableText(op->name);
    if (const auto *list = constant.as<Constant::List>())
      return listText(*list, constant.isTuple);
    return "None";
  }

  std::string outputText() const {
    bool isBare = graph.returnsOneValue && graph.outputs.size() == 1;
    return isBare ? argumentText(graph.outputs[0]) : listText(graph.outputs, /*isTuple=*/true);
  }

  const Program &program;
  const Graph &graph;
  std::vector<std::vector<NodeId>> lastUses;
  std::string lastSummary;
};

static std::string_view kindText(InputKind kind) {
  constexpr std::string_view names[] = {"USER_INPUT",      "PARAMETER",  "BUFFER",
                                        "CONSTANT_TENSOR", "CUSTOM_OBJ", "TOKEN"};
  return names[static_cast<size_t>(kind)];
}

static std::string_view kindText(OutputKind kind) {
  constexpr std::string_view names[] = {"USER_OUTPUT",           "LOSS_OUTPUT",
                                        "BUFFER_MUTATION",       "PARAMETER_MUTATION",
                                        "GRADIENT_TO_PARAMETER", "GRADIENT_TO_USER_INPUT",
                                        "USER_INPUT_MUTATION",   "TOKEN"};
  return names[static_cast<size_t>(kind)];
}

static std::string targetText(const std::string &target) {
  return target.empty() ? "" : fmt::format(" target='{}'", target);
}

static Lines signatureLines(const Program &program) {
  Lines lines = {"Graph signature: ", "    # inputs"};
  for (const InputSpec &input : program.inputs) {
    std::string persistent =
        input.kind == InputKind::Buffer ? (input.persistent ? " persistent=True" : " persistent=False") : "";
    lines.push_back(fmt::format("    {}: {}{}{}", input.name, kindText(input.kind), targetText(input.target),
                                persistent));
  }
  if (program.inputs.empty())
    lines.push_back("    ");
  lines.insert(lines.end(), {"    ", "    # outputs"});
  for (const OutputSpec &output : program.outputs) {
    const auto *reference = output.value.as<NodeReference>();
    lines.push_back(fmt::format("    {}: {}{}", reference ? program.graph.nameOf(reference->node) : "",
                                kindText(output.kind), targetText(output.target)));
  }
  if (program.outputs.empty())
    lines.push_back("    ");
  lines.push_back("    ");
  return lines;
}

static std::string boundText(int64_t bound, std::string_view infinity) {
  if (bound == std::numeric_limits<int64_t>::max())
    return std::string(infinity);
  return bound == std::numeric_limits<int64_t>::min() ? "-" + std::string(infinity)
                                                      : fmt::format("{}", bound);
}

/// "s77: VR[1, 64]".
static std::string rangeText(const Program &program, const RangeConstraint &constraint) {
  std::string expression = program.expressions.print(constraint.expression);
  // torch names symbols of floats zf0 and zuf0; their infinity is sympy's own.
  bool isFloat = expression.starts_with("zf") || expression.starts_with("zuf");
  std::string_view infinity = isFloat ? "oo" : "int_oo";
  return fmt::format("{}: VR[{}, {}]", expression, boundText(constraint.range.min, infinity),
                     boundText(constraint.range.max, infinity));
}

std::string Program::print() const {
  Lines lines = {"ExportedProgram:"};
  for (std::string &line : GraphPrinter(*this, graph).print("GraphModule"))
    lines.push_back("    " + line);
  Lines signature = signatureLines(*this);
  lines.insert(lines.end(), signature.begin(), signature.end());
  std::vector<std::string> ranges;
  for (const RangeConstraint &constraint : rangeConstraints)
    ranges.push_back(rangeText(*this, constraint));
  lines.push_back(fmt::format("Range constraints: {{{}}}", join(ranges, ", ")));
  return join(lines, "\n") + "\n";
}

} // namespace torchere::program
