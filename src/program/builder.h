// Builder: makes a program node by node. All front ends use it.
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
  /// `arguments` are at their positions in the op's schema, NotGiven where one is omitted.
  NodeId call(const Op *op, std::span<const Argument> arguments, Type type, const Label *label = nullptr);
  /// A call as written in Python. `schema` is torch's text, or empty for callables without one. Fills in the
  /// label's keywords. Fails on arguments that the schema does not have, or that are given twice.
  Result<NodeId> call(std::string_view op, std::string_view schema, std::span<const Argument> positional,
                      std::span<const KeywordArgument> keywords, Type type, Label label);
  /// A node that represents a subgraph, which the graph's module holds under the name `attribute`.
  NodeId graph(std::string_view attribute, const GraphBuilder &subgraph, const Label *label = nullptr);
  /// `isBare`: the single output is returned as it is, not in a tuple.
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
  /// Programs may share their ops, so that each op is interned only once.
  explicit Builder(std::shared_ptr<OpInterner> ops = std::make_shared<OpInterner>());
  Builder(const Builder &) = delete;
  Builder &operator=(const Builder &) = delete;

  GraphBuilder main() { return {*this, 0}; }
  GraphBuilder addSubgraph(const GraphBuilder &parent, std::string name);

  Argument constant(Constant value);
  Argument list(std::span<const Argument> elements, bool isTuple = false);

  /// A type of this program; copies what it views. Equal tensor types are stored once.
  Type type(const Type::Data &data);
  Type tensorType(DType dtype, std::span<const SymInt> shape, std::span<const SymInt> strides = {},
                  std::string_view device = "cpu");
  /// The same for a label.
  const Label *label(const Label &label);
  uint32_t addStackTrace(std::string text);
  uint32_t addModuleStack(std::vector<ModuleFrame> frames);

  /// The next output of the main graph, after setOutputs().
  Status addOutput(OutputKind kind, std::string target);
  /// Data outside the graphs is filled in directly: expressions, input specs, weights, ranges, trees.
  Program &program() { return made; }

  /// The program, not yet verified. The builder and its GraphBuilders must not be used afterwards.
  Program finish() { return std::move(made); }

private:
  friend class GraphBuilder;
  std::string_view device(std::string_view name);
  void growTypes();

  /// An entry of a hash table of tensor types, with open addressing.
  struct KnownType {
    uint64_t hash = 0;
    const Type::Data *data = nullptr;
  };

  Program made;
  std::vector<KnownType> types; ///< a power of two of entries, at most half of them used
  size_t typeCount = 0;
  std::string_view lastDevice; ///< stored; usually all values are on the same device
};

} // namespace torchere::program
