// The exporter: from a captured program to a StableHLO module and the entry point that describes it.
#pragma once

#include "base/error.h"
#include "program/entry_point.h"
#include "program/program.h"
#include "stablehlo/shared_module.h"

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace torchere::exporter {

struct Options {
  std::string name = "forward"; ///< of the entry point; the module's function is always @main
  /// Tensor constants of at most this many bytes are inlined into the module; larger ones are arguments.
  int64_t inlineConstantBytes = 128;
  /// Python numbers are constants of the module; otherwise all but 0 and 1 are arguments.
  bool inlineNumbers = true;
  /// What the program assumes of its inputs' sizes is asserted in the module, for those who run it with
  /// nothing else: stablehlo.custom_call @shape_assertion.
  bool shapeAssertions = false;
  /// What eager PyTorch raises an error for while it computes (a matrix without an inverse, assertions about
  /// data) is found out by the function too: its last result is then the status (program::statusSize).
  bool checks = false;
  /// Of dots and convolutions: "default", "high" or "highest"; empty: none is set.
  std::string precision = {};
  /// Ops in these namespaces without a row become stablehlo.custom_call with the op's name as the target, the
  /// tensor arguments as operands and the others as JSON in backend_config.
  std::set<std::string> customOpNamespaces;
  /// Ops that become stablehlo.composite, with their lowering in a private function: "sdpa", "layer_norm", or
  /// ATen's names.
  std::set<std::string> composites;
  /// Ops of quantized_decomposed become conversions to and from quantized types, not arithmetic, where these
  /// can express them.
  bool quantizedTypes = false;
  /// Locations are NameLocs of JSON: the node's name, op, module stack and stack trace.
  bool nodeMetadata = false;
  /// With nodeMetadata, what else torch says of nodes: JSON objects by metadataKey().
  std::unordered_map<std::string, std::string> torchMetadata;
};

/// The key of Options::torchMetadata; no name stands for any node with that stack trace.
inline std::string metadataKey(std::string_view node, std::string_view stackTrace) {
  return fmt::format("{}\n{}", node, stackTrace);
}

/// Wall-clock seconds.
struct Timings {
  double lower = 0;
  double verify = 0;
};

struct Exported {
  std::shared_ptr<const stablehlo::SharedModule> module;
  program::EntryPoint entryPoint;
  /// Every parameter and persistent buffer of the program, and the other buffers that it reads.
  std::unordered_map<std::string, program::Weight> stateDict;
  /// The constants passed as arguments, in the order of EntryInput::position.
  std::vector<program::Weight> constants;
  Timings timings;
  /// Of the checks that the function does not make: what, where, and why not.
  std::vector<std::string> leftOut;
  /// Whether the module's text includes locations: with Options::nodeMetadata, or where the program writes
  /// some.
  bool printsLocations = false;
};

/// Lowers a functional program. Function @main takes parameters, buffers, constants and user inputs (those
/// that it reads), in this order, and returns the program's outputs, mutated state first. A single error
/// lists every op without a row in the op table; other errors name the op, the argument and the user's source
/// line.
TORCHERE_EXPORT Result<Exported> exportProgram(const program::Program &program, const Options &options = {});

/// A row of the op table.
struct Operator {
  std::string name;   ///< "aten.add.Tensor"
  std::string schema; ///< "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
  std::string family; ///< its file in src/lowering/ops, without ".cpp": "binary"
};

/// Every op that has a lowering, sorted by name.
TORCHERE_EXPORT std::vector<Operator> listOperators();

/// Loads a library of lowerings (include/torchere/lowering.h), for ops without a row, by its path. Gives the
/// names of the ops.
TORCHERE_EXPORT Result<std::vector<std::string>> loadLowerings(const std::filesystem::path &library);
/// The schemas of the ops that loaded libraries lower, by their names.
TORCHERE_EXPORT std::map<std::string, std::string> loadedLowerings();

/// The ops that the exporter lowers without a row: the marks of composites, calls that state all of their
/// fields, and StableHLO as text.
TORCHERE_EXPORT std::set<std::string> ownOps();

} // namespace torchere::exporter
