// The ops of a program that the op table cannot lower, as data.
#pragma once

#include "base/error.h"
#include "program/program.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace torchere::exporter {

/// An op without a lowering.
struct MissingOp {
  std::string name;
  std::vector<std::string> places; ///< of its uses, in order; empty texts where the line is not known
  /// Set if a use gives a size that depends on the data: no lowering of the op would help.
  std::optional<Error> sizeFromData;
  bool writes = false; ///< to an argument, so that it cannot be a custom call either
};

/// The ops without a lowering, in the main graph or a graph that it uses, by name.
TORCHERE_EXPORT std::vector<MissingOp> missingOps(const program::Program &program,
                                                  const std::set<std::string> &customOpNamespaces);

} // namespace torchere::exporter
