// Program: constants, names and source places of nodes, and the geometry of weights.
#include "program/program.h"

#include "program/stack_trace.h"

namespace torchere::program {

std::optional<Constant> Argument::constant() const {
  if (const auto *apart = std::get_if<const Constant *>(&value))
    return **apart;
  if (const auto *number = as<int64_t>())
    return Constant{*number};
  if (const auto *number = as<double>())
    return Constant{*number};
  if (const auto *flag = as<bool>())
    return Constant{*flag};
  if (as<NodeReference>() || as<GraphReference>())
    return std::nullopt;
  const auto *list = as<List>();
  if (!list)
    return Constant{};
  Constant::List constants;
  for (const Argument &element : *list) {
    std::optional<Constant> constant = element.constant();
    if (!constant)
      return std::nullopt;
    constants.push_back(*std::move(constant));
  }
  return Constant{std::move(constants), list->isTuple};
}

const std::string &Node::op() const {
  static const std::string none;
  return callee ? callee->name : none;
}

std::string Graph::nameOf(NodeId node) const {
  const Label *label = nodes[node].label;
  return label ? std::string(label->name) : fmt::format("v{}", node);
}

int64_t Weight::elementCount() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

bool Weight::isContiguous() const {
  if (elementCount() == 0)
    return true;
  int64_t expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1)
      continue;
    if (strides[i] != expected)
      return false;
    expected *= shape[i];
  }
  return true;
}

std::string Program::place(const Node &node) const {
  std::string file;
  if (std::optional<StackFrame> frame = userFrame(stackTraces[node.stackTrace()])) {
    size_t slash = frame->file.find_last_of("/\\");
    file = fmt::format("{}:{}", frame->file.substr(slash == std::string_view::npos ? 0 : slash + 1),
                       frame->line);
  }
  const std::vector<ModuleFrame> &modules = moduleStacks[node.moduleStack()];
  std::string path = modules.empty() ? "" : modules.back().path;
  return file + (file.empty() || path.empty() ? "" : " in ") + path;
}

} // namespace torchere::program
