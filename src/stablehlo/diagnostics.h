// Turns MLIR's diagnostics into the text of an Error.
#pragma once

#include "mlir/IR/Diagnostics.h"

#include <string>

namespace torchere::stablehlo {

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
