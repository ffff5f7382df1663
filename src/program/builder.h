// Builder: makes a program node by node. All front ends end here.
#pragma once

#include "program/program.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace torchere::program {

class Builder;

struct KeywordArgument {
  std::string name;
  Argument value;
};

/// Fills one graph of a Builder's program. Copied freely; valid as long as its Builder.
class TORCHERE_EXPORT GraphBuilder {
public:
  /// Placeholders come before all other nodes.
  NodeId placeholder(Type type, const Label *label = nullptr);
  /// `arguments` stand at their positions in the op's schema, NotGiven where one is left out.
  NodeId call(const Op *op, std::span<const Argument> arguments, Type type, const Label *label = nullptr);
  /// A call as Python writes it. `schema` is torch's text, or empty for callables without one. The label's
  /// keywords are filled in. Fails on arguments that the schema does not have, or given twice.
  Result<NodeId> call(std::string_view op, std::string_view schema, std::span<const Argument> positional,
                      std::span<const KeywordArgument> keywords, Type type, Label label);
  /// A node that stands for a subgraph, which the graph's module holds under the name `attribute`.
  NodeId graph(std::string_view attribute, const GraphBuilder &subgraph, const Label *label = nullptr);
  /// `isBare`: the one output is returned itself, and not in a tuple.
  void setOutputs(std::span<const Argument> outputs, bool isBare = false);

private:
  friend class Builder;
  GraphBuilder(Builder &builder, size_t index) : builder(&builder), index(index) {}
  Graph &target();
  NodeId append(const Node &node);
  Result<const Op *> arrange(std::string_view op, std::string_view schema,
                             std::span<const Argument> positional, std::span<const KeywordArgument> keywords,
                             std::string_view subject, std::vector<Argument> &arranged,
                             std::vector<uint16_t> &positions);

  Builder *builder;
  size_t index; ///< 0 for the main graph, i + 1 for Program::subgraphs[i]
};

class TORCHERE_EXPORT Builder {
public:
  /// Programs may share their ops, so that an op is interned once for all of them.
  explicit Builder(std::shared_ptr<OpInterner> ops = std::make_shared<OpInterner>());
  Builder(const Builder &) = delete;
  Builder &operator=(const Builder &) = delete;

  GraphBuilder main() { return {*this, 0}; }
  GraphBuilder addSubgraph(const GraphBuilder &parent, std::string name);

  Argument constant(Constant value);
  Argument list(std::span<const Argument> elements, bool isTuple = false);

  /// A type of this program; what it views is copied. Equal types of tensors are stored once.
  Type type(const Type::Data &data);
  Type tensorType(DType dtype, std::span<const SymInt> shape, std::span<const SymInt> strides = {},
                  std::string_view device = "cpu");
  /// The same for a label.
  const Label *label(const Label &label);
  uint32_t addStackTrace(std::string text);
  uint32_t addModuleStack(std::vector<ModuleFrame> frames);

  /// The next output of the main graph, whose outputs are set.
  Status addOutput(OutputKind kind, std::string target);
  /// What has no graph is filled in directly: expressions, input specs, weights, ranges, trees.
  Program &program() { return made; }

  /// The program, which is not verified; the builder and its GraphBuilders are at an end.
  Program finish() { return std::move(made); }

private:
  friend class GraphBuilder;
  std::string_view device(std::string_view name);
  void growTypes();

  /// A tensor's type by its hash, in a table of open addressing.
  struct KnownType {
    uint64_t hash = 0;
    const Type::Data *data = nullptr;
  };

  Program made;
  std::vector<KnownType> types; ///< a power of two of places, at most half of them filled
  size_t typeCount = 0;
  std::string_view lastDevice; ///< stored; mostly all values lie on one
};

} // namespace torchere::program
