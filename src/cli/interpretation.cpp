// torchere-translate --interpret: runs a module on the reference interpreter and prints its results.
#include "cli/translation.h"

#include "evaluation/constants.h"
#include "interpreter/check_dialect.h"
#include "interpreter/evaluator.h"
#include "interpreter/instrumentation_dialect.h"
#include "interpreter/mlir_values.h"
#include "stablehlo/dialect.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"

namespace torchere::cli {

namespace {

struct Flags {
  llvm::cl::opt<std::string> arguments{"args",
                                       llvm::cl::desc("Arguments of --interpret: an array of constants, "
                                                      "such as [dense<1> : tensor<2xi32>]")};
  llvm::cl::opt<std::string> entry{"entry",
                                   llvm::cl::desc("Function that --interpret runs: by default main, or "
                                                  "the only one")};
  llvm::cl::opt<std::string> probeDirectory{
      "probe-output-dir", llvm::cl::desc("Where interpreter.probe writes the probed values")};
};

Result<interpreter::Values> readArguments(llvm::StringRef text, mlir::MLIRContext *context) {
  interpreter::Values arguments;
  if (text.empty())
    return arguments;
  auto list = mlir::dyn_cast_or_null<mlir::ArrayAttr>(mlir::parseAttribute(text, context));
  if (!list)
    return invalidArgument("[args] not an array of constants: \"{}\"", text.str());
  for (mlir::Attribute attribute : list) {
    auto constant = mlir::dyn_cast<mlir::ElementsAttr>(attribute);
    if (!constant)
      return invalidArgument("[args] holds what is no constant tensor: \"{}\"", text.str());
    TORCHERE_ASSIGN(interpreter::Tensor tensor, evaluation::tensorOf(constant));
    arguments.push_back(std::move(tensor));
  }
  return arguments;
}

Result<interpreter::Values> interpretModule(mlir::ModuleOp module, const Flags &flags) {
  TORCHERE_ASSIGN(interpreter::Values arguments, readArguments(flags.arguments, module.getContext()));
  interpreter::Evaluator evaluator(module, {.entry = flags.entry, .probeDirectory = flags.probeDirectory});
  return evaluator.runEntry(std::move(arguments));
}

llvm::LogicalResult interpretAndPrint(mlir::ModuleOp module, llvm::raw_ostream &output, const Flags &flags) {
  // Nothing to run: such parts of a split file hold comments only.
  if (module.getBody()->empty())
    return llvm::success();
  Result<interpreter::Values> results = interpretModule(module, flags);
  if (!results) {
    llvm::errs() << "error: " << results.error().text() << "\n";
    return llvm::failure();
  }
  for (const interpreter::Value &result : *results)
    output << (result.isTensor() ? result.tensor().text() : interpreter::typeText(result)) << "\n";
  return llvm::success();
}

} // namespace

void registerInterpretation() {
  static const Flags flags;
  static const mlir::TranslateFromMLIRRegistration registration(
      "interpret", "Runs a module on the reference interpreter",
      [](mlir::ModuleOp module, llvm::raw_ostream &output) {
        return interpretAndPrint(module, output, flags);
      },
      [](mlir::DialectRegistry &registry) {
        registry.insert<mlir::func::FuncDialect, stablehlo::StableHLODialect, interpreter::CheckDialect,
                        interpreter::InterpreterDialect>();
      });
}

} // namespace torchere::cli
