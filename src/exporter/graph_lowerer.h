// GraphLowerer: lowers the nodes of one graph of a program into a block, those of its subgraphs into regions
// of ops there.
#pragma once

#include "exporter/callee.h"
#include "exporter/composite.h"
#include "exporter/exporter.h"
#include "exporter/symbol_table.h"
#include "lowering/op_table.h"

#include <memory>
#include <span>
#include <vector>

namespace torchere::exporter {

/// What the graphs of a program share while they are lowered into one function.
struct FunctionScope {
  const program::Program &program;
  const Options &options;
  mlir::OpBuilder &builder;
  lowering::FunctionState &state;
  Composites &composites;
  CalleeTable &callees;
};

/// As lowerings know sizes.
lowering::Dim toDim(program::SymInt size);
lowering::Dims toDims(std::span<const program::SymInt> shape);

class GraphLowerer {
public:
  /// Builds where the scope's builder stands; `symbols` are those of that block.
  GraphLowerer(const FunctionScope &scope, const program::Graph &graph, SymbolTable &symbols);

  /// Says what a placeholder stands for.
  void bind(program::NodeId placeholder, lowering::Argument value) { values[placeholder] = std::move(value); }
  /// Says what all placeholders stand for, and which symbols their sizes define. `op` takes the graph.
  Status bindAll(std::vector<lowering::Argument> inputs, const std::string &op);
  /// Lowers the nodes that `live` holds. An error names the op and the user's place.
  Status lower(const std::vector<bool> &live);
  const lowering::Argument &valueOf(program::NodeId node) const { return values[node]; }
  /// The graph's outputs, after lower().
  Result<std::vector<lowering::Argument>> outputs() const;

private:
  Status bindSizes(const program::Node &placeholder, lowering::Argument &value);
  Status lowerNode(const program::Node &node, lowering::Argument &result);
  Result<lowering::Values> lowerCall(const program::Node &node);
  Result<lowering::Argument> getItem(const program::Node &node) const;
  Status defineSize(program::SymInt size, lowering::Argument &value);
  Result<lowering::TensorType> resultType(const program::Type &type, const program::Node &node) const;
  Result<std::vector<lowering::TensorType>> resultTypes(const program::Node &node) const;
  Result<lowering::Argument> toLowering(const program::Argument &argument, const std::string &op) const;

  const FunctionScope &scope;
  const program::Graph &graph;
  SymbolTable &symbols;
  std::vector<lowering::Argument> values;                    ///< of each node
  std::vector<std::unique_ptr<lowering::Subgraph>> children; ///< what arguments of the graph's ops point to
};

} // namespace torchere::exporter
