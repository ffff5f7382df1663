// Finds the cell of an LSTM in a vector program.
#pragma once

#include "cpu/vector/program.h"

namespace torchere::cpu {

/// Which of a program's operands are what: newCell = logistic(forget) cell + logistic(input) tanh(candidate)
/// and hidden = logistic(output) tanh(newCell), all of f32.
struct LstmCell {
  uint16_t input = 0, forget = 0, candidate = 0, output = 0, cell = 0; ///< of the program's inputs
  uint16_t newCell = 0, hidden = 0;                                    ///< of its outputs

  /// Nothing if the program does anything else, or more. (Hochreiter and Schmidhuber's cell with forget
  /// gates.)
  static std::optional<LstmCell> of(const VectorProgram &program);
};

} // namespace torchere::cpu
