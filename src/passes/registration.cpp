// The transformations as MLIR passes, under upstream's names, and our workarounds for plugins.
#include "passes/registration.h"

#include "passes/chlo/legalization.h"
#include "passes/compatibility/composite_calls.h"
#include "passes/compatibility/expansion.h"
#include "passes/prepare/plugin_passes.h"
#include "passes/shapes/dynamism.h"
#include "passes/shapes/function_refinement.h"
#include "passes/shapes/shape_assertions.h"
#include "passes/simplify/patterns.h"
#include "stablehlo/dialect.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace torchere::evaluation;

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
    return "Changes the types of the arguments of @main to those of the option 'types'";
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
  StringRef getDescription() const final {
    return "Propagates the argument types of @main through the module";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<stablehlo::StableHLODialect>();
  }

  void runOnOperation() final {
    func::FuncOp main = findMain(getOperation());
    FailureOr<Operation *> unknown = failure();
    if (main)
      unknown = refineFrom(getOperation(), main);
    if (succeeded(unknown) && *unknown)
      (*unknown)->emitOpError() << "keeps an unknown dimension, because it depends on values: got "
                                << *llvm::find_if_not((*unknown)->getResultTypes(), isStaticType);
    if (failed(unknown) || *unknown)
      signalPassFailure();
  }
};

/// A pass over one function; `name` and `description` come from the derived pass.
template <class Pass> struct FunctionPass : PassWrapper<Pass, OperationPass<func::FuncOp>> {
  FunctionPass() = default;
  FunctionPass(const FunctionPass &other) : PassWrapper<Pass, OperationPass<func::FuncOp>>(other) {}

  StringRef getArgument() const final { return Pass::name; }
  StringRef getDescription() const final { return Pass::description; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<stablehlo::StableHLODialect>();
  }
  void runOnOperation() final {
    func::FuncOp function = this->getOperation();
    if (!function.isExternal() && failed(static_cast<Pass *>(this)->run(function)))
      this->signalPassFailure();
  }
};

struct CanonicalizeDynamismPass : FunctionPass<CanonicalizeDynamismPass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CanonicalizeDynamismPass)
  static constexpr StringLiteral name = "stablehlo-canonicalize-dynamism";
  static constexpr StringLiteral description =
      "Replaces dynamic ops by static ones where constants determine the shape";

  LogicalResult run(func::FuncOp function) { return canonicalizeDynamism(function); }
};

struct CheckShapeAssertionsPass : FunctionPass<CheckShapeAssertionsPass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CheckShapeAssertionsPass)
  static constexpr StringLiteral name = "stablehlo-check-shape-assertions";
  static constexpr StringLiteral description = "Checks and erases custom_call @shape_assertion";

  LogicalResult run(func::FuncOp function) { return checkShapeAssertions(function); }
};

struct AggressiveSimplificationPass : FunctionPass<AggressiveSimplificationPass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AggressiveSimplificationPass)
  static constexpr StringLiteral name = "stablehlo-aggressive-simplification";
  static constexpr StringLiteral description =
      "Drops, joins and cancels ops without changing any bit of the results";

  LogicalResult run(func::FuncOp function) { return simplifyFunction(function, {}); }
};

/// A pass that folds constants, with upstream's options.
template <class Pass> struct FoldingPass : FunctionPass<Pass> {
  FoldingPass() = default;
  FoldingPass(const FoldingPass &other) : FunctionPass<Pass>(other) {}

  EvaluationLimits limits() const { return {.elements = foldOpElementLimit, .floats = foldFloat}; }

  ::mlir::Pass::Option<bool> foldFloat{*this, "fold-float", llvm::cl::desc("Folds floating-point ops too"),
                                       llvm::cl::init(true)};
  ::mlir::Pass::Option<int64_t> foldOpElementLimit{
      *this, "fold-op-element-limit",
      llvm::cl::desc("The maximum number of elements to fold; splats are always folded"),
      llvm::cl::init(65536)};
};

struct AggressiveFolderPass : FoldingPass<AggressiveFolderPass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AggressiveFolderPass)
  static constexpr StringLiteral name = "stablehlo-aggressive-folder";
  static constexpr StringLiteral description = "Computes ops on constants";

  LogicalResult run(func::FuncOp function) {
    return simplifyFunction(function, {.rewrites = false, .folding = limits()});
  }
};

struct TargetIndependentOptimizationPass : FoldingPass<TargetIndependentOptimizationPass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TargetIndependentOptimizationPass)
  static constexpr StringLiteral name = "stablehlo-target-independent-optimization";
  static constexpr StringLiteral description =
      "Simplification and folding together, until neither changes anything";

  LogicalResult run(func::FuncOp function) {
    return simplifyFunction(function, {.rewrites = true, .folding = limits()});
  }
};

struct ChloLegalizeToStablehloPass : PassWrapper<ChloLegalizeToStablehloPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ChloLegalizeToStablehloPass)

  StringRef getArgument() const final { return "chlo-legalize-to-stablehlo"; }
  StringRef getDescription() const final { return "Expands CHLO ops to StableHLO"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<stablehlo::StableHLODialect>();
  }

  void runOnOperation() final {
    if (failed(legalizeChlo(getOperation())))
      signalPassFailure();
  }
};

struct LegalizeCompositeToCallPass : FunctionPass<LegalizeCompositeToCallPass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LegalizeCompositeToCallPass)
  static constexpr StringLiteral name = "stablehlo-legalize-composite-to-call";
  static constexpr StringLiteral description = "Replaces composites by calls to their decompositions";

  LegalizeCompositeToCallPass() = default;
  LegalizeCompositeToCallPass(const LegalizeCompositeToCallPass &other) : FunctionPass(other) {}

  LogicalResult run(func::FuncOp function) {
    llvm::StringSet<> kept;
    for (const std::string &composite : except)
      kept.insert(composite);
    return replaceComposites(function, kept);
  }

  ListOption<std::string> except{*this, "except", llvm::cl::desc("Names of the composites to keep")};
};

struct CompatibilityExpanderPass : PassWrapper<CompatibilityExpanderPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CompatibilityExpanderPass)

  CompatibilityExpanderPass() = default;
  CompatibilityExpanderPass(const CompatibilityExpanderPass &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "stablehlo-compatibility-expander"; }
  StringRef getDescription() const final { return "Expands ops that an older StableHLO lacks"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<stablehlo::StableHLODialect>();
  }

  void runOnOperation() final {
    Result<vhlo::Version> version = vhlo::Version::parse(target, "target");
    Status status = version ? vhlo::checkTarget(*version) : Status(tl::unexpected(version.error()));
    if (!status) {
      getOperation().emitError(status.error().message);
      return signalPassFailure();
    }
    expandForVersion(getOperation(), *version);
  }

  Option<std::string> target{*this, "target", llvm::cl::desc("The version, X.Y.Z")};
};

/// A pass that only some plugins need.
struct PreparationPass : PassWrapper<PreparationPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PreparationPass)

  explicit PreparationPass(const PluginPass &pass) : pass(pass) {}

  StringRef getArgument() const final { return pass.name; }
  StringRef getDescription() const final { return pass.description; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<stablehlo::StableHLODialect>();
  }
  void runOnOperation() final { pass.run(getOperation()); }

  const PluginPass &pass;
};

} // namespace

void registerPasses() {
  for (const PluginPass &pass : pluginPasses())
    registerPass([&pass] { return std::make_unique<PreparationPass>(pass); });
  PassRegistration<ChloLegalizeToStablehloPass>();
  PassRegistration<LegalizeCompositeToCallPass>();
  PassRegistration<CompatibilityExpanderPass>();
  PassRegistration<RefineArgumentsPass>();
  PassRegistration<RefineShapesPass>();
  PassRegistration<CanonicalizeDynamismPass>();
  PassRegistration<CheckShapeAssertionsPass>();
  PassRegistration<AggressiveSimplificationPass>();
  PassRegistration<AggressiveFolderPass>();
  PassRegistration<TargetIndependentOptimizationPass>();
  // Upstream's expansion leaves ops of the dialect shape, which its pipeline then lowers. Ours leaves none.
  PassPipelineRegistration<>(
      "chlo-pre-serialization-pipeline", "Leaves StableHLO only, as artifacts need it",
      [](OpPassManager &manager) { manager.addPass(std::make_unique<ChloLegalizeToStablehloPass>()); });
}

} // namespace torchere::passes
