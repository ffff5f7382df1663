// Version: a release of StableHLO, which says what an artifact may hold and who can read it.
#pragma once

#include "base/error.h"

#include <algorithm>
#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace torchere::vhlo {

/// A release, for example 1.16.0. The patch number never affects the contents of an artifact.
struct Version {
  int major = 0;
  int minor = 0;
  int patch = 0;

  /// Reads `X.Y.Z`; anything else is an error that names `subject`.
  TORCHERE_EXPORT static Result<Version> parse(std::string_view text,
                                               std::string_view subject = "target_version");
  TORCHERE_EXPORT std::string text() const;
  /// The version that determines the contents: without the patch number.
  constexpr Version opset() const { return {major, minor, 0}; }

  friend constexpr auto operator<=>(const Version &, const Version &) = default;
};

/// The oldest version that artifacts are written for and read from: StableHLO's first stable one.
inline constexpr Version minimumVersion{0, 9, 0};
/// The newest version whose ops, attributes and types the table knows.
inline constexpr Version currentVersion{1, 20, 0};
/// The default target: about twelve weeks old in November 2026, so that
/// consumers that are updated every few months can read it. To be bumped with every release of ours.
inline constexpr Version defaultVersion{1, 16, 0};

/// An error unless artifacts can be written for `version`.
TORCHERE_EXPORT Status checkTarget(const Version &version);

/// The newest target that a reader of `reader` takes and we can write: never above either.
TORCHERE_EXPORT Result<Version> targetFor(const Version &reader);

/// Since when something has a portable form, if it has one.
using Since = std::optional<Version>;

/// Since when something of two parts has one.
inline Since latest(Since a, Since b) {
  return a && b ? Since(std::max(*a, *b)) : std::nullopt;
}

/// MLIR's bytecode version that StableHLO releases of `version` write.
int bytecodeVersion(const Version &version);

} // namespace torchere::vhlo
