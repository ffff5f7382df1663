// RunTimeChecks: what a function finds out about its values while it runs, and its status, which says so.
#pragma once

#include "lowering/context.h"
#include "program/entry_point.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace torchere::exporter {

/// Where LAPACK's codes of an op's matrices come from: 0 for a matrix that has the factors.
enum class CodeSource : uint8_t {
  LastResult,   ///< of the row that has such a result
  NanInResults, ///< a matrix whose values came out as NaN, [..., values]
};

/// A check that is part of an op.
struct ImpliedCheck {
  std::string_view name; ///< eager's for the op, with which its errors begin
  std::string_view row;  ///< the row that gives the codes as well; empty if the op's own does
  CodeSource source = CodeSource::LastResult;
  size_t values = 0;               ///< with NanInResults: the result
  std::string_view matrices = "A"; ///< the argument that has the batch
  bool hasFactors = false;         ///< before the codes the row gives LU factors and pivots, not asked for
  bool hasPivots = false;
  bool isOnRequest = false; ///< only with check_errors=True
  bool isOneMatrix = false; ///< whatever the argument's dimensions
};

/// Of one check: whether it fails, which element of the batch does (from 1, or 0), and the code. 0-d.
struct CheckOutcome {
  mlir::Value fails;   ///< i1
  mlir::Value element; ///< i32
  mlir::Value code;    ///< i32
};

class RunTimeChecks {
public:
  RunTimeChecks(const program::Program &program, bool areWanted) : program(program), areWanted(areWanted) {}

  /// The check that is part of a call; null if there is none, or none is wanted.
  const ImpliedCheck *impliedBy(const program::Node &node) const;
  /// Whether the node only asserts something, about data. What torch knows to hold is none.
  bool isAssertion(const program::Graph &graph, const program::Node &node) const;
  /// Whether a graph, or one that it uses, holds either.
  bool areIn(const program::Graph &graph) const;
  /// Whether a graph that the node runs does.
  bool areRunBy(const program::Graph &graph, const program::Node &node) const;
  /// The nodes that are, or hold, checks.
  std::vector<program::NodeId> nodesIn(const program::Graph &graph) const;

  /// Adds a check to the status. Codes are i32, of one matrix or of a batch.
  void addFactorization(lowering::Context &cx, const program::Node &node, std::string_view name,
                        mlir::Value codes);
  void addAssertion(lowering::Context &cx, const program::Node &node, std::string message, mlir::Value holds);
  /// Notes that a check is not made.
  void leaveOut(const program::Node &node, std::string_view reason);

  /// The status here; zeros if nothing has been checked.
  mlir::Value status(lowering::Context &cx) const;
  /// Goes on with this status, in another region; gives the one before.
  mlir::Value exchangeStatus(mlir::Value status) { return std::exchange(present, status); }
  /// The first of several statuses, [count, 3], that is not zeros, after this one.
  void addFirstOf(lowering::Context &cx, mlir::Value statuses);
  bool canAdd() const { return barrier.empty(); }
  /// Where checks cannot be made from here on: why; empty where they can. Gives what held before.
  std::string_view exchangeBarrier(std::string_view reason) { return std::exchange(barrier, reason); }

  const std::vector<program::RunTimeCheck> &made() const { return checks; }
  const std::vector<std::string> &leftOut() const { return omitted; }

private:
  bool canFail(const program::Graph &graph, const program::Argument &condition) const;
  bool isSizeOfSelection(const program::Graph &graph, program::SymInt size, int64_t &most) const;
  bool add(lowering::Context &cx, const program::Node &node, program::RunTimeCheck check,
           const CheckOutcome &outcome);

  const program::Program &program;
  bool areWanted;
  mlir::Value present;
  std::string_view barrier;
  std::vector<program::RunTimeCheck> checks;
  std::vector<std::string> omitted;
};

/// Eager's message for an op that it knows by this name, with the marks of program::RunTimeCheck.
std::string factorizationMessage(std::string_view name);

} // namespace torchere::exporter
