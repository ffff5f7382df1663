// prepareFor: adapts a module to the plugin that compiles it.
#pragma once

#include "passes/prepare/donation.h"
#include "passes/shapes/refine_shapes.h"
#include "traits/plugin_traits.h"
#include "vhlo/version.h"

#include <optional>
#include <vector>

namespace torchere::passes {

/// What compiles a module, and for which arguments.
struct Target {
  /// The newest StableHLO that may be used; none: the module's own.
  std::optional<vhlo::Version> version = {};
  /// The shapes of @main's arguments; none: those that they have.
  std::optional<std::vector<ArgumentShape>> shapes = {};
  std::vector<Donation> donations = {};
  /// The arguments to mark as weights.
  std::vector<size_t> weights = {};
  /// The 0-d integers of @main's arguments whose values sizes depend on, if these stay open.
  std::vector<size_t> argumentsInShapes = {};
  PluginTraits traits = {};
};

/// In this order: refines the module to the shapes, replaces composites that the plugin does not know by
/// calls to their decompositions, expands ops that are newer than the version, marks donations, weights and
/// arguments in shapes, and runs the passes of plugin_passes.h that the traits require.
///
/// Errors are those of refineShapes and markDonations, and InvalidArgument for a composite with regions. The
/// module is then in an unspecified state: prepare a clone to keep the original.
TORCHERE_EXPORT Status prepareFor(stablehlo::Module &module, const Target &target);

} // namespace torchere::passes
