// Implements prepareFor, and the table of passes that only some plugins need.
#include "passes/prepare/prepare.h"

#include "passes/compatibility/composite_calls.h"
#include "passes/compatibility/expansion.h"
#include "passes/prepare/plugin_passes.h"
#include "passes/prepare/weight_marks.h"
#include "stablehlo/argument_attributes.h"
#include "stablehlo/diagnostics.h"
#include "stablehlo/module_implementation.h"

using namespace mlir;

namespace torchere::passes {

static constexpr PluginPass table[] = {
    {"torchere-prepare-xla-loop-counters",
     "Turns loop counters that are added to themselves into products with two",
     &PluginTraits::abortsOnDoubledCounters, multiplyDoubledCounters},
    {"torchere-prepare-xla-cpu-arc-tangents", "Replaces atan2 by a formula", &PluginTraits::miscomputesAtan2,
     expandArcTangents},
    {"torchere-prepare-xla-cpu-donated-writes",
     "Inserts optimization barriers after writes into donated arguments that have other readers",
     &PluginTraits::repeatsFusedWrites, keepDonatedWrites},
    {"torchere-prepare-xla-gpu-float32-products",
     "Sets the precision of float32 products that have none to HIGHEST", &PluginTraits::roundsFloat32Products,
     keepFloat32Products},
    {"torchere-prepare-xla-quantized-types", "Replaces conversions to and from quantized types by arithmetic",
     &PluginTraits::lacksQuantizedTypes, expandQuantizedTypes},
};

ArrayRef<PluginPass> pluginPasses() {
  return table;
}

/// Replaces composites that the plugin does not know by calls.
static Status replaceUnknownComposites(ModuleOp module, const PluginTraits &traits) {
  llvm::StringSet<> known;
  for (const std::string &name : traits.composites)
    known.insert(name);
  stablehlo::DiagnosticText diagnostics(*module.getContext());
  for (auto function : module.getOps<func::FuncOp>())
    if (failed(replaceComposites(function, known)))
      return invalidArgument("[module] the plugin does not know a composite: {}", diagnostics.take());
  return {};
}

/// By an attribute of the argument.
static Status markArgumentsInShapes(ModuleOp module, ArrayRef<size_t> arguments) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  for (size_t argument : arguments) {
    if (!main || argument >= main.getNumArguments())
      return invalidArgument("[main] no such argument that sizes depend on: got {}", argument);
    main.setArgAttr(static_cast<unsigned>(argument), stablehlo::sizeAttribute,
                    BoolAttr::get(module.getContext(), true));
  }
  return {};
}

Status prepareFor(stablehlo::Module &module, const Target &target) {
  if (target.shapes)
    TORCHERE_TRY(refineShapes(module, *target.shapes,
                              target.traits.runsUnknownSizes ? UnknownSizes::Kept : UnknownSizes::Refused));
  ModuleOp op = *module.implementation().module;
  TORCHERE_TRY(replaceUnknownComposites(op, target.traits));
  if (target.version)
    expandForVersion(op, *target.version);
  TORCHERE_TRY(markDonations(module, target.donations));
  TORCHERE_TRY(markWeights(module, target.weights));
  TORCHERE_TRY(markArgumentsInShapes(op, target.argumentsInShapes));
  for (const PluginPass &pass : pluginPasses())
    if (target.traits.*pass.trait)
      pass.run(op);
  return {};
}

} // namespace torchere::passes
