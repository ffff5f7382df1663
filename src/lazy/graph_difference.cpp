// Alignment of two programs' nodes by their ops, and the comparison of those that belong together.
#include "lazy/graph_difference.h"

#include "program/stack_trace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

namespace torchere::lazy {

using program::Argument;
using program::NodeId;
using program::NodeKind;
using program::Program;

static std::string typeText(const Program &program, const program::Type &type) {
  if (const auto *tensor = type.as<program::TensorType>()) {
    std::vector<std::string> sizes;
    for (program::SymInt size : tensor->shape)
      sizes.push_back(program.expressions.print(size));
    return fmt::format("{}[{}]", dtypeInfo(tensor->dtype).shortName, fmt::join(sizes, ", "));
  }
  if (const auto *list = type.as<program::Type::List>()) {
    std::vector<std::string> elements;
    for (const program::Type &element : *list)
      elements.push_back(typeText(program, element));
    return fmt::format("({})", fmt::join(elements, ", "));
  }
  return "None";
}

static std::string constantText(const program::Constant &constant) {
  if (const auto *dtype = constant.as<DType>())
    return std::string(dtypeInfo(*dtype).shortName);
  if (const auto *format = constant.as<program::MemoryFormat>())
    return format->name;
  if (const auto *text = constant.as<std::string>())
    return fmt::format("\"{}\"", *text);
  if (const auto *complex = constant.as<std::complex<double>>())
    return fmt::format("({}{:+}j)", complex->real(), complex->imag());
  return "None";
}

static std::string argumentText(const Program &program, const Argument &argument) {
  if (const auto *node = argument.as<program::NodeReference>())
    return program.graph.nameOf(node->node);
  if (const auto *integer = argument.as<int64_t>())
    return fmt::format("{}", *integer);
  if (const auto *number = argument.as<double>())
    return fmt::format("{}", *number);
  if (const auto *flag = argument.as<bool>())
    return *flag ? "True" : "False";
  if (const auto *list = argument.as<program::ArgumentList>()) {
    std::vector<std::string> elements;
    for (const Argument &element : *list)
      elements.push_back(argumentText(program, element));
    return fmt::format("[{}]", fmt::join(elements, ", "));
  }
  std::optional<program::Constant> constant = argument.constant();
  return constant ? constantText(*constant) : "None";
}

/// "v3: f32[4, 8] = aten.mm.default(v2, p1)", and the user's line.
static std::string nodeText(const Program &program, NodeId id) {
  const program::Node &node = program.graph.nodes[id];
  std::vector<std::string> arguments;
  for (program::NamedArgument argument : node.given())
    arguments.push_back(argument.name + "=" + argumentText(program, argument.value));
  std::string text = fmt::format("{}: {} = {}({})", program.graph.nameOf(id), typeText(program, node.type),
                                 node.op(), fmt::join(arguments, ", "));
  if (auto frame = program::userFrame(program.stackTraces[node.stackTrace()]))
    text += fmt::format("\n              at {}:{} in {}: {}", frame->file, frame->line, frame->function,
                        frame->code);
  return text;
}

/// The nodes of a program that call an op.
static std::vector<NodeId> callsOf(const Program &program) {
  std::vector<NodeId> calls;
  for (NodeId id = 0; id < program.graph.nodes.size(); ++id)
    if (program.graph.nodes[id].kind == NodeKind::Call)
      calls.push_back(id);
  return calls;
}

namespace {

struct Ends {
  size_t first = 0, last = 0; ///< how many nodes have the same ops at the beginning, and at the end
};

/// A node and the one that takes its place; either may be missing.
struct Pair {
  std::optional<NodeId> now, before;
};

/// A program with what the comparison asks of its nodes.
struct Side {
  explicit Side(const Program &program) : program(program), calls(callsOf(program)) {
    users.resize(program.graph.nodes.size());
    isResult.resize(program.graph.nodes.size());
    for (NodeId id : calls)
      for (const Argument &argument : program.graph.nodes[id].arguments)
        count(argument);
    for (const Argument &output : program.graph.outputs)
      if (const auto *node = output.as<program::NodeReference>())
        isResult[node->node] = true;
  }
  void count(const Argument &argument) {
    if (const auto *node = argument.as<program::NodeReference>())
      ++users[node->node];
    if (const auto *list = argument.as<program::ArgumentList>())
      for (const Argument &element : *list)
        count(element);
  }
  const program::Node &node(NodeId id) const { return program.graph.nodes[id]; }
  const program::Node &call(size_t index) const { return node(calls[index]); }
  std::string type(NodeId id) const { return typeText(program, node(id).type); }

  const Program &program;
  std::vector<NodeId> calls;
  std::vector<size_t> users;
  std::vector<bool> isResult;
};

class Comparison {
public:
  Comparison(const Program &now, const Program &before) : now(now), before(before) {}

  Ends ends() const {
    Ends ends;
    size_t most = std::min(now.calls.size(), before.calls.size());
    while (ends.first < most && isSameOp(ends.first, ends.first))
      ++ends.first;
    while (ends.first + ends.last < most &&
           isSameOp(now.calls.size() - 1 - ends.last, before.calls.size() - 1 - ends.last))
      ++ends.last;
    return ends;
  }

  std::vector<std::string> list() {
    for (const Pair &pair : aligned())
      compare(pair);
    if (texts.empty() && now.program.graph.outputs.size() != before.program.graph.outputs.size())
      texts.push_back(fmt::format("{} results are kept, before {}", now.program.graph.outputs.size(),
                                  before.program.graph.outputs.size()));
    return std::move(texts);
  }

private:
  bool isSameOp(size_t nowIndex, size_t beforeIndex) const {
    return now.call(nowIndex).callee == before.call(beforeIndex).callee;
  }

  std::vector<Pair> aligned() const {
    Ends same = ends();
    size_t nowEnd = now.calls.size() - same.last, beforeEnd = before.calls.size() - same.last;
    std::vector<Pair> pairs;
    for (size_t i = 0; i < same.first; ++i)
      pairs.push_back({now.calls[i], before.calls[i]});
    addMiddle(pairs, same.first, nowEnd, beforeEnd);
    for (size_t i = 0; i < same.last; ++i)
      pairs.push_back({now.calls[nowEnd + i], before.calls[beforeEnd + i]});
    return pairs;
  }

  /// The longest common subsequence of ops; what lies between is changed, added or missing.
  void addMiddle(std::vector<Pair> &pairs, size_t first, size_t nowEnd, size_t beforeEnd) const {
    size_t rows = nowEnd - first, columns = beforeEnd - first;
    constexpr size_t limit = 4'000'000; // cells of the table
    if (rows * columns > limit)
      return addGap(pairs, first, nowEnd, first, beforeEnd);
    std::vector<uint32_t> longest((rows + 1) * (columns + 1));
    auto at = [&](size_t row, size_t column) -> uint32_t & { return longest[row * (columns + 1) + column]; };
    for (size_t row = rows; row-- > 0;)
      for (size_t column = columns; column-- > 0;)
        at(row, column) = isSameOp(first + row, first + column)
                              ? at(row + 1, column + 1) + 1
                              : std::max(at(row + 1, column), at(row, column + 1));
    size_t row = 0, column = 0, gapRow = 0, gapColumn = 0;
    while (row < rows && column < columns) {
      if (isSameOp(first + row, first + column)) {
        addGap(pairs, first + gapRow, first + row, first + gapColumn, first + column);
        pairs.push_back({now.calls[first + row++], before.calls[first + column++]});
        gapRow = row;
        gapColumn = column;
      } else if (at(row + 1, column) >= at(row, column + 1)) {
        ++row;
      } else {
        ++column;
      }
    }
    addGap(pairs, first + gapRow, nowEnd, first + gapColumn, beforeEnd);
  }

  void addGap(std::vector<Pair> &pairs, size_t nowFirst, size_t nowEnd, size_t beforeFirst,
              size_t beforeEnd) const {
    while (nowFirst < nowEnd || beforeFirst < beforeEnd) {
      Pair &pair = pairs.emplace_back();
      if (nowFirst < nowEnd)
        pair.now = now.calls[nowFirst++];
      if (beforeFirst < beforeEnd)
        pair.before = before.calls[beforeFirst++];
    }
  }

  void compare(const Pair &pair) {
    if (pair.now && pair.before)
      counterparts.emplace(*pair.before, *pair.now);
    if (!pair.before)
      return report(pair, "another op: " + now.node(*pair.now).op());
    if (!pair.now)
      return report(pair, "an op is missing: " + before.node(*pair.before).op());
    const program::Node &here = now.node(*pair.now), &there = before.node(*pair.before);
    if (here.callee != there.callee)
      return report(pair, fmt::format("the op: {}, before {}", here.op(), there.op()));
    for (size_t i = 0; i < std::max(here.arguments.size(), there.arguments.size()); ++i) {
      Argument none, mine = i < here.arguments.size() ? here.arguments[i] : none,
                     theirs = i < there.arguments.size() ? there.arguments[i] : none;
      if (std::string text = differing(mine, theirs); !text.empty())
        report(pair, fmt::format("argument '{}': {}", here.callee->argumentNames[i], text));
    }
    if (now.isResult[*pair.now] != before.isResult[*pair.before])
      report(pair, now.isResult[*pair.now] ? "a tensor shows its result, before none did"
                                           : "no tensor shows its result, before one did");
    else if (now.users[*pair.now] != before.users[*pair.before])
      report(pair, fmt::format("the number of users of its result: {}, before {}", now.users[*pair.now],
                               before.users[*pair.before]));
  }

  /// How two arguments of one position differ; empty if they do not.
  std::string differing(const Argument &mine, const Argument &theirs) {
    const auto *here = mine.as<program::NodeReference>(), *there = theirs.as<program::NodeReference>();
    if (here && there)
      return differingOperand(here->node, there->node);
    const auto *list = mine.as<program::ArgumentList>(), *other = theirs.as<program::ArgumentList>();
    if (list && other && list->size() == other->size()) {
      for (size_t i = 0; i < list->size(); ++i) {
        std::string text = differing((*list)[i], (*other)[i]);
        if (!text.empty())
          return (*list)[i].as<program::NodeReference>() ? fmt::format("element {}: {}", i, text)
                                                         : changed(mine, theirs);
      }
      return "";
    }
    if (here || there)
      return changed(mine, theirs);
    std::string text = argumentText(now.program, mine);
    return text == argumentText(before.program, theirs) ? "" : changed(mine, theirs);
  }

  std::string changed(const Argument &mine, const Argument &theirs) const {
    return fmt::format("{}, before {}", described(now, mine), described(before, theirs));
  }

  /// Where a value comes from.
  static std::string described(const Side &side, const Argument &argument) {
    const auto *node = argument.as<program::NodeReference>();
    if (!node)
      return argumentText(side.program, argument);
    if (side.node(node->node).kind == NodeKind::Placeholder)
      return fmt::format("an array of {}", side.type(node->node));
    return fmt::format("the result {} of {}", side.program.graph.nameOf(node->node),
                       side.node(node->node).op());
  }

  std::string differingOperand(NodeId here, NodeId there) {
    bool isLeaf = now.node(here).kind == NodeKind::Placeholder;
    if (isLeaf != (before.node(there).kind == NodeKind::Placeholder))
      return changed({program::NodeReference{here}}, {program::NodeReference{there}});
    auto [known, isNew] = counterparts.emplace(there, here);
    if (!isLeaf)
      return known->second == here || isReported(here) || isReported(known->second)
                 ? ""
                 : changed({program::NodeReference{here}}, {program::NodeReference{there}});
    if (isNew && leaves.emplace(here).second)
      return now.type(here) == before.type(there)
                 ? ""
                 : fmt::format("{}, before {}", now.type(here), before.type(there));
    return !isNew && known->second == here
               ? ""
               : fmt::format("the array {}, which is shared in another way than {}",
                             now.program.graph.nameOf(here), before.program.graph.nameOf(there));
  }

  bool isReported(NodeId id) const { return reported.contains(id); }

  void report(const Pair &pair, const std::string &what) {
    if (pair.now)
      reported.insert(*pair.now);
    std::string text = what;
    if (pair.now)
      text += "\n      now     " + nodeText(now.program, *pair.now);
    if (pair.before)
      text += "\n      before  " + nodeText(before.program, *pair.before);
    texts.push_back(std::move(text));
  }

  Side now, before;
  std::unordered_map<NodeId, NodeId> counterparts; ///< of the earlier program's nodes
  std::set<NodeId> leaves, reported;
  std::vector<std::string> texts;
};

} // namespace

std::vector<std::string> differencesOf(const Program &now, const Program &before, size_t limit) {
  std::vector<std::string> texts = Comparison(now, before).list();
  if (texts.size() > limit) {
    std::string others = fmt::format("and {} others", texts.size() - limit);
    texts.resize(limit);
    texts.push_back(std::move(others));
  }
  return texts;
}

} // namespace torchere::lazy
