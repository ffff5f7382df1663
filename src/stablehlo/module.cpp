// Implements Module on MLIR's parser, printer and verifier.
#include "stablehlo/module_implementation.h"

#include "stablehlo/chlo_dialect.h"
#include "stablehlo/diagnostics.h"
#include "stablehlo/dialect.h"
#include "stablehlo/located_text.h"
#include "stablehlo/text_nesting.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace torchere::stablehlo {

void registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::func::FuncDialect, mlir::quant::QuantDialect, StableHLODialect, chlo::CHLODialect>();
}

std::shared_ptr<mlir::MLIRContext> makeContext() {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  auto context = std::make_shared<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

Module::Module(std::unique_ptr<Implementation> implementation) : impl(std::move(implementation)) {}
Module::Module(Module &&) noexcept = default;
Module &Module::operator=(Module &&) noexcept = default;
Module::~Module() = default;

Result<Module> Module::parse(std::string_view text, std::string_view name) {
  return parseModule(makeContext(), text, name);
}

Result<Module> parseModule(std::shared_ptr<mlir::MLIRContext> context, std::string_view text,
                           std::string_view name) {
  llvm::MemoryBufferRef input(text, name);
  if (mlir::isBytecode(input))
    return invalidArgument("[{}] not a valid StableHLO module: got MLIR bytecode, expected text", name);
  TORCHERE_TRY(checkNesting(text, name));
  auto implementation = std::make_unique<Module::Implementation>();
  implementation->context = std::move(context);
  DiagnosticText diagnostics(*implementation->context);
  // The copy is what MLIR's parser needs a terminating NUL for.
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(input.getBuffer(), input.getBufferIdentifier()), llvm::SMLoc());
  implementation->module =
      mlir::parseSourceFile<mlir::ModuleOp>(sources, mlir::ParserConfig(implementation->context.get()));
  if (!implementation->module)
    return invalidArgument("[{}] not a valid StableHLO module: {}", name, diagnostics.take());
  return Module(std::move(implementation));
}

/// MLIR 22 packs bools in bits where newer readers want bytes, so a hex string of them would not be portable.
static bool hasLargeBooleans(mlir::ModuleOp module) {
  mlir::OpPrintingFlags flags;
  return module
      .walk([&](ConstantOp constant) {
        auto elements = mlir::dyn_cast<mlir::ElementsAttr>(constant->getAttr("value"));
        bool isHex = elements && elements.getElementType().isInteger(1) &&
                     flags.shouldPrintElementsAttrWithHex(elements);
        return isHex ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

static std::string print(mlir::ModuleOp module, mlir::OpPrintingFlags flags) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (hasLargeBooleans(module))
    flags.printLargeElementsAttrWithHex(-1);
  module.print(stream, flags);
  return text;
}

std::string Module::text(bool withLocations) const {
  return print(*impl->module, mlir::OpPrintingFlags().enableDebugInfo(withLocations));
}

std::string locatedText(const Module &module) {
  return print(*module.implementation().module, mlir::OpPrintingFlags().enableDebugInfo().useLocalScope());
}

Status Module::verify() const {
  DiagnosticText diagnostics(*impl->context);
  if (mlir::failed(mlir::verify(*impl->module)))
    return invalidArgument("[module] not valid StableHLO: {}", diagnostics.take());
  return {};
}

Module Module::clone() const {
  auto copy = std::make_unique<Implementation>();
  copy->context = impl->context;
  copy->module = impl->module.get().clone();
  return Module(std::move(copy));
}

} // namespace torchere::stablehlo
