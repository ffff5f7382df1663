// Implements the collection of diagnostics.
#include "stablehlo/diagnostics.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/raw_ostream.h"

namespace torchere::stablehlo {

std::string sourcePlace(mlir::Location location) {
  std::string file, scope;
  location->walk([&](mlir::Location part) {
    if (auto line = mlir::dyn_cast<mlir::FileLineColLoc>(part); line && file.empty())
      file = line.getFilename().str() + ":" + std::to_string(line.getLine());
    if (auto named = mlir::dyn_cast<mlir::NameLoc>(part); named && scope.empty())
      scope = named.getName().str();
    return mlir::WalkResult::advance();
  });
  if (file.empty() || scope.empty())
    return file + scope;
  return file + " in " + scope;
}

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
