// The CHLO dialect: every op and attribute in one header, named as in dialect.h (chlo.top_k is TopKOp).
#pragma once

#include "stablehlo/dialect.h"

#include "stablehlo/chlo_dialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "stablehlo/chlo_attributes.h.inc"

namespace torchere::chlo {

/// The type that two operands broadcast to: dimensions of size 1 are stretched; shapes are aligned at their
/// ends, or, with `dimensions`, dimension i of the operand of lower rank is dimension dimensions[i] of the
/// other. The element type is `element`, or that of the operands, which must be equal.
llvm::LogicalResult inferBroadcastType(llvm::StringRef op, std::optional<mlir::Location> location,
                                       mlir::ValueRange operands,
                                       std::optional<llvm::ArrayRef<int64_t>> dimensions, mlir::Type element,
                                       llvm::SmallVectorImpl<mlir::Type> &types);

/// Marks the ops whose operands broadcast to the result's type.
template <class ConcreteOp>
class BroadcastsOperands : public mlir::OpTrait::TraitBase<ConcreteOp, BroadcastsOperands> {};

} // namespace torchere::chlo

#define GET_OP_CLASSES
#include "stablehlo/chlo_broadcast.h.inc"
#define GET_OP_CLASSES
#include "stablehlo/chlo_elementwise.h.inc"
#define GET_OP_CLASSES
#include "stablehlo/chlo_tensor.h.inc"
