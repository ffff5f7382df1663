// Implements the shapes and bounds of tensor types.
#include "stablehlo/bounds.h"

#include "stablehlo/constraint.h"
#include "stablehlo/dialect.h"

using namespace mlir;

namespace torchere::stablehlo {

static ArrayRef<int64_t> statedBounds(RankedTensorType type) {
  auto extensions = dyn_cast_if_present<TypeExtensionsAttr>(type.getEncoding());
  return extensions ? extensions.getBounds() : ArrayRef<int64_t>();
}

SmallVector<int64_t> boundsOf(RankedTensorType type) {
  ArrayRef<int64_t> stated = statedBounds(type);
  return stated.empty() ? SmallVector<int64_t>(type.getRank(), ShapedType::kDynamic)
                        : SmallVector<int64_t>(stated);
}

void tightenBounds(SmallVectorImpl<int64_t> &bounds, RankedTensorType type) {
  ArrayRef<int64_t> stated = statedBounds(type);
  if (bounds.empty()) {
    bounds.append(stated.begin(), stated.end());
    return;
  }
  for (auto [bound, other] : llvm::zip(bounds, stated))
    if (isKnown(other) && (!isKnown(bound) || other < bound))
      bound = other;
}

RankedTensorType withShape(RankedTensorType type, ArrayRef<int64_t> shape, ArrayRef<int64_t> bounds) {
  Attribute encoding = type.getEncoding();
  if (encoding && !isa<TypeExtensionsAttr>(encoding) && static_cast<int64_t>(shape.size()) != type.getRank())
    encoding = {};
  if (!encoding || isa<TypeExtensionsAttr>(encoding)) {
    SmallVector<int64_t> kept(shape.size(), ShapedType::kDynamic);
    for (auto [bound, size, given] : llvm::zip(kept, shape, bounds)) // no more than there are bounds
      if (!isKnown(size))
        bound = given;
    bool isBounded = llvm::any_of(kept, isKnown);
    encoding = isBounded ? TypeExtensionsAttr::get(type.getContext(), kept) : Attribute();
  }
  return RankedTensorType::get(shape, type.getElementType(), encoding);
}

/// Whether no known size of `type` exceeds the bound that `other` states.
static bool fitBoundsOf(RankedTensorType type, RankedTensorType other) {
  return llvm::all_of(llvm::zip(type.getShape(), statedBounds(other)), [](auto pair) {
    auto [size, bound] = pair;
    return !isKnown(size) || !isKnown(bound) || size <= bound;
  });
}

bool fitBounds(RankedTensorType left, RankedTensorType right) {
  return fitBoundsOf(left, right) && fitBoundsOf(right, left);
}

} // namespace torchere::stablehlo
