// Bundle: what a saved program consists of, and the directory on disk that holds it.
//
//   manifest.json                   ours: the functions in order; weights by name, dtype, shape and alias;
//                                   where asked for, the size and digest of every other file
//   functions/NAME.meta             PyTorch/XLA's JSON: signatures and where each argument comes from
//   functions/NAME.bytecode         the StableHLO module as a portable artifact, which is what is loaded
//   functions/NAME.mlir             its text, for people (optional)
//   functions/NAME.signature.json   ours: what .meta cannot hold (state, symbols and ranges, names, pytrees)
//   data/WEIGHT                     one npy file a parameter or buffer; a "/" in the name makes a directory
//   constants/INDEX                 one npy file a constant
//
// PyTorch/XLA reads it by the files that it knows; it is read here with and without those that are ours.
// Tied weights (the same view of one storage) are written once: the other names are hard links, so that
// readers of single files find each, and the manifest says `same_as`, so that loading maps one file for all
// of them. Where there are no hard links the other names are copies. Other views of a shared storage have
// their own file. What was exported without data has no file, and `has_data` in the manifest is false.
#pragma once

#include "base/error.h"
#include "program/entry_point.h"
#include "stablehlo/shared_module.h"
#include "vhlo/version.h"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace torchere::artifact {

/// A lowered function: its signature, and its StableHLO module as text, as a portable artifact, or in memory.
/// At least one of the three is present (function_module.h converts between them).
struct Function {
  program::EntryPoint entryPoint;
  std::string text = {};
  std::string bytecode = {};
  /// The module of a function that was exported in this process, so that nothing has to be parsed.
  std::shared_ptr<const stablehlo::SharedModule> module = {};
  bool printsLocations = false; ///< whether text and bytecode made from `module` include its locations
};

struct Bundle {
  std::vector<Function> functions; ///< at least one; the first is the default
  /// Some may be types alone: withWeights() supplies their data.
  std::unordered_map<std::string, program::Weight> stateDict;
  std::vector<program::Weight> constants; ///< by EntryInput::position
  /// False if the weights were left out on purpose; none in the state dict has data then.
  bool hasWeights = true;
};

/// Adds a lowered program to a bundle. Its constants are appended, but for those that are there already
/// (which changes their positions in the entry point); a weight whose name is in use must be the same view of
/// the same memory. joinBundles() finds other names.
TORCHERE_EXPORT Status addFunction(Bundle &bundle, Function function,
                                   const std::unordered_map<std::string, program::Weight> &stateDict,
                                   const std::vector<program::Weight> &constants);

/// The index of a function; NotFound lists the existing names.
TORCHERE_EXPORT Result<size_t> findFunction(const Bundle &bundle, std::string_view name);

struct SaveOptions {
  bool saveWeights = true;
  bool includeText = true; ///< functions/NAME.mlir, in addition to functions/NAME.bytecode
  /// Replaces a directory that holds a saved program and no files that its index does not name.
  bool overwrite = false;
  bool withDigests = false; ///< in manifest.json, for LoadOptions::verify
  /// The StableHLO version that functions/NAME.bytecode targets.
  vhlo::Version target = vhlo::defaultVersion;
};

struct LoadOptions {
  bool mapWeights = true; ///< false: as if they had been left out of the program
  /// Reads every file and compares it with its digest; requires a program that was saved with digests.
  bool verify = false;
  /// Of dots and convolutions, in place of what the program asks: "default", "high" or "highest"; empty: as
  /// the program has it (passes::setProductPrecision).
  std::string precision = {};
};

/// Writes the directory under a temporary name next to `path`, syncs it to disk, then renames it: no other
/// process, and nothing that survives a crash, ever sees a half-written directory. Creates parents. The files
/// depend only on the bundle and the options.
TORCHERE_EXPORT Status save(const Bundle &bundle, const std::filesystem::path &path,
                            const SaveOptions &options = {});

/// Reads a directory written by save() or by PyTorch/XLA. Weights are views of mapped files. If save()
/// replaces the directory in the meantime, it is read again: the result is the old program or the new one.
TORCHERE_EXPORT Result<Bundle> load(const std::filesystem::path &path, const LoadOptions &options = {});

/// Checks that names can be files, that weights lie in their storages and that every function's inputs name
/// weights and constants of the same dtype and shape. save() and load() call it.
TORCHERE_EXPORT Status verify(const Bundle &bundle);

} // namespace torchere::artifact
