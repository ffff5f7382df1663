// The portable form of an attribute: the few classes of attributes that artifacts hold, whose parts are in
// portable form as well. StableHLO's arrays of integers become tensors, its symbols become strings.
#pragma once

#include "vhlo/attribute_rules.h"

#include "mlir/IR/Attributes.h"

namespace torchere::vhlo {

/// Null if artifacts hold no such attribute.
mlir::Attribute portableForm(mlir::Attribute attribute);

/// StableHLO's own form of an attribute in portable form, for attributes of ops; null if it is of no class
/// that has this form.
mlir::Attribute ownForm(mlir::Attribute portable, Form form);

/// A vector of i64 in portable form; none if it is another attribute, or a splat of more elements than any
/// tensor has dimensions.
std::optional<llvm::SmallVector<int64_t>> dimensionsOf(mlir::Attribute portable);

} // namespace torchere::vhlo
