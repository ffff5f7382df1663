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

  /// `name` is that of an op, such as "stablehlo.add".
  void add(llvm::StringRef name, Evaluation evaluation) { rows[name] = evaluation; }
  /// Null when there is none.
  Evaluation find(llvm::StringRef name) const { return rows.lookup(name); }

private:
  llvm::StringMap<Evaluation> rows;
};

} // namespace torchere::interpreter
