// EvaluationTable: op name -> the function that computes its results.
#pragma once

#include "interpreter/value.h"

#include "llvm/ADT/StringMap.h"

namespace torchere::interpreter {

class Call;
/// Computes an op's results, in order. Error messages need not name the op or its place: the evaluator adds
/// them.
using Evaluation = Result<Values> (*)(const Call &call);

class EvaluationTable {
public:
  /// The table of all ops that can be interpreted: ops/<group>.cpp defines add<Group>(EvaluationTable &).
  EvaluationTable();

  struct Row {
    Evaluation evaluation = nullptr; ///< null if the op cannot be interpreted
    bool computes = false;           ///< whether it computes with numbers rather than moving elements
  };

  /// `name` is the op's, such as "stablehlo.add".
  void add(llvm::StringRef name, Evaluation evaluation) { rows[name] = {evaluation, false}; }
  /// For quantized tensors, the evaluation receives and returns the numbers that they represent.
  void addComputation(llvm::StringRef name, Evaluation evaluation) { rows[name] = {evaluation, true}; }
  Row find(llvm::StringRef name) const { return rows.lookup(name); }

private:
  llvm::StringMap<Row> rows;
};

} // namespace torchere::interpreter
