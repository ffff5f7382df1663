// Turns MLIR's diagnostics into the text of an Error.
#pragma once

#include "mlir/IR/Diagnostics.h"

#include <string>

namespace torchere::stablehlo {

/// An op's place as an Error has it: `model.py:31 in encoder.layer.0`; empty if the location has none.
std::string sourcePlace(mlir::Location location);

/// Gathers a context's error diagnostics, one a line and with its place, for as long as it lives.
class DiagnosticText {
public:
  explicit DiagnosticText(mlir::MLIRContext &context);

  /// What was gathered so far: `model.mlir:2:3: message` for each, joined by newlines.
  std::string take() { return std::move(text); }

private:
  void append(mlir::Diagnostic &diagnostic);

  std::string text;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace torchere::stablehlo
