// GraphRewriter: walks one graph of a program and makes the graph without writes that takes its place.
#pragma once

#include "functionalization/alias_table.h"
#include "functionalization/emitter.h"
#include "functionalization/op_rule.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace torchere::functionalization {

/// What stands for a node of the graph: a tensor, of which several nodes may be names (an in-place op gives
/// its own argument), a list of results, a node that is as it was, or nothing.
struct NodeValue {
  enum class Kind : uint8_t { None, Plain, Tensor, List } kind = Kind::None;
  uint32_t index = 0; ///< the new node, the tensor, the list
};

class GraphRewriter {
public:
  /// `ties` gives for each placeholder the one whose memory it has, in other sizes or the same: mostly
  /// itself.
  GraphRewriter(program::Program &program, const program::Graph &graph,
                std::vector<program::NodeId> ties = {});

  /// An error names the op and the user's place.
  Status run();

  /// After run(): the new graph's nodes and outputs.
  program::NodeList takeNodes() { return emitter.take(); }
  program::Argument mapArgument(const program::Argument &argument);
  /// The last value of a placeholder's memory, if it was written.
  std::optional<program::NodeId> newValueOf(program::NodeId placeholder);
  /// Where that memory was written first; empty where the line is not known.
  std::string placeOfWrite(program::NodeId placeholder) const;

  // Rewrites; op_rule.h finds them by the op's name.
  Status takeReshape(program::NodeId id, const program::Node &node);
  Status takeShapeOfOther(program::NodeId id, const program::Node &node);
  Status takeFlattened(program::NodeId id, const program::Node &node);
  Status takeUnflattened(program::NodeId id, const program::Node &node);
  Status takeExpanded(program::NodeId id, const program::Node &node);
  Status takeConverted(program::NodeId id, const program::Node &node);
  Status takeContiguous(program::NodeId id, const program::Node &node);
  Status takeClone(program::NodeId id, const program::Node &node);
  Status takeItself(program::NodeId id, const program::Node &node);
  Status takeChunks(program::NodeId id, const program::Node &node);
  Status takeParts(program::NodeId id, const program::Node &node);
  Status takeStrided(program::NodeId id, const program::Node &node);
  Status scatterStrided(program::NodeId id, const program::Node &node);
  Status changeSizes(program::NodeId id, const program::Node &node);
  Status changeStrides(program::NodeId id, const program::Node &node);
  Status writeZeros(program::NodeId id, const program::Node &node);
  Status normalizeBatch(program::NodeId id, const program::Node &node);
  Status drop(program::NodeId id, const program::Node &node);

private:
  /// An index into `tensors`.
  using TensorId = uint32_t;

  struct ListValue {
    program::NodeId node;
    program::Type::List types;
    std::vector<std::optional<TensorId>> elements; ///< those taken out so far
    std::optional<AliasId> of;                     ///< what its elements are views of
    program::NodeId ofValue = 0;                   ///< the value of that which the node is of
    const program::Op *op = nullptr;               ///< of a list of views
    std::span<const program::Argument> arguments = {};
    const program::Node *origin = nullptr;
  };

  Status rewrite(program::NodeId id, const program::Node &node);
  const OpRule &ruleFor(const program::Op &op);
  void addPlaceholder(program::NodeId id, const program::Node &node);
  void tie(program::NodeId placeholder, AliasId memory);
  Status keep(program::NodeId id, const program::Node &node);
  Status keepView(program::NodeId id, const program::Node &node, size_t viewed);
  Status writeInPlace(program::NodeId id, const program::Node &node, const std::string &functional);
  Result<bool> takeElement(program::NodeId id, const program::Node &node);
  TensorId elementOf(ListValue &list, size_t index, const program::Node *node);
  ViewStep elementStep(const ListValue &list, size_t index);
  std::optional<std::pair<int64_t, int64_t>> partOf(const ListValue &list, size_t index, size_t axis) const;

  // What rewrites share.
  std::vector<program::Argument> mapArguments(const program::Node &node, bool needsFirst = true);
  program::Argument mapped(const program::Node &node, std::string_view name);
  const program::Argument *argument(const program::Node &node, std::string_view name) const;
  std::optional<int64_t> integer(const program::Node &node, std::string_view name, int64_t otherwise) const;
  bool isFlag(const program::Node &node, std::string_view name, bool value) const;
  Result<TensorId> tensorArgument(const program::Node &node, size_t position = 0) const;
  Result<program::Type> resultType(const program::Node &node) const;
  AliasId aliasOf(TensorId tensor) const { return tensors[tensor]; }
  void bind(program::NodeId id, TensorId tensor) { values[id] = {NodeValue::Kind::Tensor, tensor}; }
  void bindNew(program::NodeId id, AliasId alias);
  program::Argument mapList(ListValue &list);
  void bindResult(program::NodeId id, program::NodeId value);
  void bindList(program::NodeId id, program::NodeId value, std::optional<AliasId> of,
                const program::Node &node);
  ViewStep stepOf(std::string_view op, std::vector<program::Argument> arguments);
  void bindView(program::NodeId id, AliasId of, const ViewStep &step, program::Type type);
  Status bindReshaped(program::NodeId id, const program::Node &node, program::Argument sizes);
  Result<ViewStep> stepInMemory(const program::Node &node, TensorId tensor);
  ViewStep stridedStep(const program::Node &node, program::Argument offset);
  Result<program::NodeId> normalizeTraining(const program::Node &node,
                                            std::span<const program::Argument> arguments,
                                            std::vector<program::Type> types);
  Status write(AliasId alias, program::NodeId value, const program::Node &node);
  program::NodeId converted(program::NodeId value, program::Type type);
  DType computedDType(const program::Node &node, const std::string &functional) const;
  const program::Op *functionalOp(const program::Node &node, const std::string &functional);
  bool isEval(const program::Node &node) const;

  program::Program &program;
  const program::Graph &graph;
  Emitter emitter;
  AliasTable aliases;
  std::vector<program::NodeId> ties;
  std::vector<NodeValue> values; ///< by node of the graph
  std::vector<AliasId> tensors;  ///< a tensor can change its sizes: it is another view then
  std::vector<ListValue> lists;
  std::vector<std::optional<AliasId>> inputs; ///< by placeholder: the tensor that it came with
  AliasId inputCount = 0;                     ///< aliases below are inputs
  std::unordered_map<AliasId, const program::Node *> firstWrites; ///< by memory
  std::unordered_map<const program::Op *, OpRule> rules;
};

} // namespace torchere::functionalization
