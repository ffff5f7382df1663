// The transformations as MLIR passes, by upstream's names.
#include "passes/registration.h"

#include "passes/shape_refinement.h"
#include "stablehlo/dialect.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace torchere::passes {

namespace {

func::FuncOp findMain(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal()) {
    module.emitError("the module has no function @main");
    return {};
  }
  return main;
}

struct RefineArgumentsPass : PassWrapper<RefineArgumentsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RefineArgumentsPass)

  RefineArgumentsPass() = default;
  RefineArgumentsPass(const RefineArgumentsPass &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "stablehlo-refine-arguments"; }
  StringRef getDescription() const final {
    return "Gives the arguments of @main the types of the option 'types'";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<stablehlo::StableHLODialect>();
  }

  void runOnOperation() final {
    func::FuncOp main = findMain(getOperation());
    SmallVector<Type> parsed;
    if (!main || failed(parseTypes(parsed)) || failed(verifyArgumentTypes(main, parsed)))
      return signalPassFailure();
    wrapArguments(main, parsed);
  }

  /// `type,type,...`.
  LogicalResult parseTypes(SmallVectorImpl<Type> &parsed) {
    StringRef text = types;
    while (!text.empty()) {
      size_t length = 0;
      Type type = parseType(text, &getContext(), &length);
      if (!type)
        return getOperation().emitError() << "option 'types' is not a list of types: got '" << types << "'";
      parsed.push_back(type);
      text = text.drop_front(length).ltrim(" ,");
    }
    return success();
  }

  Option<std::string> types{*this, "types",
                            llvm::cl::desc("The new types of all arguments, joined by commas")};
};

struct RefineShapesPass : PassWrapper<RefineShapesPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RefineShapesPass)

  StringRef getArgument() const final { return "stablehlo-refine-shapes"; }
  StringRef getDescription() const final { return "Carries the argument types of @main through the module"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<stablehlo::StableHLODialect>();
  }

  void runOnOperation() final {
    func::FuncOp main = findMain(getOperation());
    if (!main || failed(refineFrom(getOperation(), main)))
      signalPassFailure();
  }
};

} // namespace

void registerPasses() {
  PassRegistration<RefineArgumentsPass>();
  PassRegistration<RefineShapesPass>();
}

} // namespace torchere::passes
