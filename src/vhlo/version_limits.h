// Restrictions of an op's version beyond its attributes and types.
#pragma once

#include "vhlo/op_table.h"

#include "mlir/IR/Operation.h"

namespace torchere::vhlo {

/// What `target` cannot hold of an op that it has: "takes one operand: got 2"; none if it can hold it.
std::optional<std::string> brokenLimit(mlir::Operation &op, const OpVersion &version, const Version &target);

} // namespace torchere::vhlo
