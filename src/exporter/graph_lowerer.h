// GraphLowerer: lowers the nodes of one graph of a program into a block, and its subgraphs into regions of
// ops in that block.
#pragma once

#include "exporter/callee.h"
#include "exporter/composite.h"
#include "exporter/exporter.h"
#include "exporter/marked_regions.h"
#include "exporter/run_time_checks.h"
#include "exporter/symbol_table.h"
#include "exporter/text_functions.h"
#include "lowering/op_table.h"

#include <memory>
#include <set>
#include <span>
#include <vector>

namespace torchere::exporter {

class PrivateFunction;

/// State shared by all graphs of a program that are lowered into one function.
struct FunctionScope {
  const program::Program &program;
  const Options &options;
  mlir::OpBuilder &builder;
  lowering::FunctionState &state;
  Composites &composites;
  CalleeTable &callees;
  TextFunctions &texts;
  RunTimeChecks &checks;
  mlir::Value generator = {}; ///< the function's argument that is the generator's state, if it has one
};

/// Sizes in the form that lowerings use.
lowering::Dim toDim(program::SymInt size);
lowering::Dims toDims(std::span<const program::SymInt> shape);

class GraphLowerer {
public:
  /// Builds at the insertion point of the scope's builder; `symbols` are those of that block.
  GraphLowerer(const FunctionScope &scope, const program::Graph &graph, SymbolTable &symbols);

  /// Sets the value of a placeholder.
  void bind(program::NodeId placeholder, lowering::Argument value) { values[placeholder] = std::move(value); }
  /// Sets the values of all placeholders, and defines the symbols that appear in their sizes. `op` is the op
  /// that uses the graph.
  Status bindAll(std::vector<lowering::Argument> inputs, const std::string &op);
  /// Lowers the nodes marked in `live`, and what only checks need. An error names the op and the user's
  /// place; of a check it is a note that the check is left out.
  Status lower(const std::vector<bool> &live);
  const lowering::Argument &valueOf(program::NodeId node) const;
  /// The graph's outputs, after lower().
  Result<std::vector<lowering::Argument>> outputs() const;

private:
  /// For the nodes of a region, in its function; shares the values of the graph around it.
  GraphLowerer(const FunctionScope &scope, const GraphLowerer &around, SymbolTable &symbols);

  Status lowerStep(program::NodeId id);
  void lowerForChecks(program::NodeId id, const std::vector<program::NodeId> &checking);
  Status lowerSteps(const std::vector<program::NodeId> &steps);
  // A region that marks bound (region_lowering.cpp).
  struct RegionCall;
  Status lowerRegion(const MarkedRegion &region);
  Status buildFunction(const MarkedRegion &region, PrivateFunction &function, RegionCall &call);
  Status returnFrom(const MarkedRegion &region, GraphLowerer &inner, const FunctionScope &innerScope,
                    PrivateFunction &function, RegionCall &call);
  void bindResults(const MarkedRegion &region, lowering::Context &cx, mlir::ValueRange results,
                   const RegionCall &call);
  void bindComputed(program::NodeId id, lowering::Context &cx, mlir::ValueRange results, size_t &next,
                    const lowering::Argument &inside);
  mlir::Location location(const program::Node &node) const;

  // What the program checks while it runs (check_lowering.cpp).
  Status lowerAssertion(const program::Node &node);
  mlir::Value withinAssertions(program::SymInt symbol, mlir::Value number);
  Result<lowering::Values> lowerChecked(lowering::Context &cx, const program::Node &node,
                                        const ImpliedCheck &implied,
                                        std::vector<lowering::GivenArgument> arguments,
                                        std::vector<lowering::TensorType> types);
  Result<lowering::Values> lowerWithStatus(lowering::Context &cx, const program::Node &node,
                                           std::vector<lowering::GivenArgument> arguments,
                                           std::vector<lowering::TensorType> types);

  Status bindSizes(const program::Node &placeholder, lowering::Argument &value);
  Status lowerNode(const program::Node &node, lowering::Argument &result);
  Status setNumber(const program::Node &node, lowering::Argument &result);
  Status defineSizes(const program::Node &node, const program::Type &type, mlir::Value result);
  void defineElement(const program::Node &node, lowering::Argument &result);
  Result<lowering::Values> lowerCall(const program::Node &node);
  Result<lowering::Values> lowerDrawing(lowering::Context &cx, const program::Node &node,
                                        mlir::Value generator, std::vector<lowering::GivenArgument> arguments,
                                        std::vector<lowering::TensorType> types);
  Result<lowering::Values> lowerWith(lowering::Context &cx, const program::Node &node,
                                     std::vector<lowering::GivenArgument> arguments,
                                     std::vector<lowering::TensorType> types);
  Result<lowering::Values> lowerWithoutRow(lowering::Context &cx, const program::Node &node,
                                           const std::vector<lowering::GivenArgument> &arguments,
                                           const std::vector<lowering::TensorType> &types);
  Result<lowering::Argument> getItem(const program::Node &node) const;
  Status defineSize(program::SymInt size, lowering::Argument &value);
  program::SymInt sizeInBranches(const program::Node &node, size_t result, size_t axis,
                                 program::SymInt size) const;
  Result<lowering::TensorType> resultType(const program::Type &type, const program::Node &node,
                                          size_t index) const;
  Result<std::vector<lowering::TensorType>> resultTypes(const program::Node &node) const;
  std::string weightName(program::NodeId node) const;
  Result<lowering::Argument> toLowering(const program::Argument &argument, const std::string &op) const;

  const FunctionScope &scope;
  const program::Graph &graph;
  SymbolTable &symbols;
  MarkedRegions ownRegions;
  const MarkedRegions &regions;
  std::vector<lowering::Argument> ownValues;
  std::vector<lowering::Argument> &values;  ///< by node
  std::set<program::NodeId> madeAssertions; ///< where the number was computed that they are about
  std::vector<std::unique_ptr<lowering::Subgraph>> children; ///< graphs that the arguments of ops point to
};

} // namespace torchere::exporter
