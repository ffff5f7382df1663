// Attributes of StableHLO that the artifact spreads over several: dimension numbers, channels, algorithms.
#pragma once

#include "vhlo/op_table.h"

#include "mlir/IR/Operation.h"

namespace torchere::vhlo {

struct SpreadField {
  std::string_view name;
  mlir::Attribute value; ///< in portable form
};
using SpreadFields = llvm::SmallVector<SpreadField, 12>;

/// Whether StableHLO's attribute is spread, for example dot_dimension_numbers or algorithm.
bool isSpreadAttribute(Spread spread, std::string_view attribute);

/// The fields of an op's attributes; none of those that a required attribute lacks.
SpreadFields spreadFields(Spread spread, mlir::Operation &op);

/// StableHLO's attributes from the fields, some of which may be null if they come from an older version.
/// False if a field has the wrong class.
bool gatherFields(Spread spread, mlir::MLIRContext *context,
                  llvm::function_ref<mlir::Attribute(std::string_view field)> field,
                  llvm::SmallVectorImpl<mlir::NamedAttribute> &attributes);

/// Whether the field's value is equivalent to its absence in an older version.
bool isNeutral(mlir::Attribute field);

/// Whether one of the attributes is spread over the field.
bool isSpreadField(Spread spread, std::string_view field);

} // namespace torchere::vhlo
