// Implements the gathering of diagnostics.
#include "stablehlo/diagnostics.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/raw_ostream.h"

namespace torchere::stablehlo {

DiagnosticText::DiagnosticText(mlir::MLIRContext &context)
    : handler(&context, [this](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
          append(diagnostic);
      }) {}

void DiagnosticText::append(mlir::Diagnostic &diagnostic) {
  llvm::raw_string_ostream stream(text);
  if (!text.empty())
    stream << "\n";
  if (auto place = mlir::dyn_cast<mlir::FileLineColLoc>(diagnostic.getLocation()))
    stream << place.getFilename().getValue() << ":" << place.getLine() << ":" << place.getColumn() << ": ";
  else if (!mlir::isa<mlir::UnknownLoc>(diagnostic.getLocation()))
    stream << diagnostic.getLocation() << ": ";
  stream << diagnostic;
}

} // namespace torchere::stablehlo
