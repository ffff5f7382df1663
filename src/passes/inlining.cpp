// Implements registerInliner.
#include "passes/inlining.h"

#include "stablehlo/chlo_dialect.h"

#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;

namespace torchere::passes {

namespace {

/// Every op may be inlined anywhere: none depends on the function that it is in.
struct Inliner final : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Operation *, bool) const final { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};

} // namespace

void registerInliner(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *, stablehlo::StableHLODialect *dialect) { dialect->addInterfaces<Inliner>(); });
}

} // namespace torchere::passes
