// prepareFor: all that is done to a module for the plugin that compiles it.
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
  /// The StableHLO to keep to; none: the one that the module is in.
  std::optional<vhlo::Version> version = {};
  /// Of @main's arguments; none: those that they have.
  std::optional<std::vector<ArgumentShape>> shapes = {};
  std::vector<Donation> donations = {};
  PluginTraits traits = {};
};

/// In this order: refines the module to the shapes, replaces the composites that the plugin does not know by
/// calls of their decompositions, says what came after the version in older ops, marks the donations, and
/// runs the passes of plugin_passes.h that the traits ask for.
///
/// Errors are those of refineShapes and markDonations, and InvalidArgument for a composite with regions. The
/// module is then in an unspecified state: prepare a clone to keep the original.
TORCHERE_EXPORT Status prepareFor(stablehlo::Module &module, const Target &target);

} // namespace torchere::passes
