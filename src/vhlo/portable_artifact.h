// The portable artifact: a module as bytecode that older and newer releases of StableHLO can read.
//
// The container is MLIR's bytecode; what it holds is described in docs/portable_artifact.md.
#pragma once

#include "stablehlo/module.h"
#include "vhlo/version.h"

#include <string>
#include <string_view>

namespace torchere::vhlo {

struct WriteOptions {
  Version target = defaultVersion;
  /// Keep the source lines of the ops; without them an artifact depends on the program alone.
  bool withLocations = true;
};

/// Errors: INVALID_ARGUMENT for a target that cannot be written, FAILED_PRECONDITION for a module that
/// `target` cannot hold, naming the op, its place, and the version that it needs.
TORCHERE_EXPORT Result<std::string> serialize(const stablehlo::Module &module,
                                              const WriteOptions &options = {});

/// Reads an artifact of any release from 0.9.0 on and verifies it. `name` stands for the file in errors.
/// Malformed bytes are an error, never a crash, and memory is proportional to their number.
TORCHERE_EXPORT Result<stablehlo::Module> deserialize(std::string_view bytes,
                                                      std::string_view name = "artifact");

/// Whether the bytes begin as an artifact does (or any other MLIR bytecode).
TORCHERE_EXPORT bool isArtifact(std::string_view bytes);

/// The version of StableHLO that the artifact was written for.
TORCHERE_EXPORT Result<Version> artifactVersion(std::string_view bytes, std::string_view name = "artifact");

} // namespace torchere::vhlo
