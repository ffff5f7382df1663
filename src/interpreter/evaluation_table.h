// EvaluationTable: op name -> the function that computes its results.
#pragma once

#include "interpreter/value.h"

#include "llvm/ADT/StringMap.h"

namespace torchere::interpreter {

class Call;
/// Computes an op's results, in order. An error's message need not name the op or its place: the evaluator
/// adds them.
using Evaluation = Result<Values> (*)(const Call &call);

class EvaluationTable {
public:
  /// The table of every op that can be interpreted: ops/<group>.cpp defines add<Group>(EvaluationTable &).
  EvaluationTable();

  struct Row {
    Evaluation evaluation = nullptr; ///< null when the op cannot be interpreted
    bool computes = false;           ///< whether it computes with numbers, rather than moving elements
  };

  /// `name` is that of an op, such as "stablehlo.add".
  void add(llvm::StringRef name, Evaluation evaluation) { rows[name] = {evaluation, false}; }
  /// Of quantized tensors the evaluation gets the numbers that they stand for, and returns such.
  void addComputation(llvm::StringRef name, Evaluation evaluation) { rows[name] = {evaluation, true}; }
  Row find(llvm::StringRef name) const { return rows.lookup(name); }

private:
  llvm::StringMap<Row> rows;
};

} // namespace torchere::interpreter
