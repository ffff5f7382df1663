// Indices of gathers and scatters that are their own places in a dimension of the indices, as torch's gather
// and scatter_add have them for the dimensions beside the given one: these become batching dimensions, and
// are not stored as indices.
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/pattern.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

using Dimensions = SmallVector<int64_t>;

/// What gather and scatter call by different names.
struct Numbers {
  Dimensions collapsed, batching, indicesBatching, map;
  int64_t vector = 0;
};

/// The dimension of the indices along which a component of them is its own place; -1 if there is none. The
/// component has one element along the dimension of components.
int64_t ownDimension(mlir::Value component, int64_t vector) {
  if (auto reshape = component.getDefiningOp<stablehlo::ReshapeOp>()) {
    Dimensions sizes(dimensionsOf(component));
    sizes.erase(sizes.begin() + vector);
    if (vector + 1 != static_cast<int64_t>(dimensionsOf(component).size()) ||
        ArrayRef<int64_t>(sizes) != dimensionsOf(reshape.getOperand()))
      return -1;
    component = reshape.getOperand();
  }
  for (int64_t dimension = 0; dimension < static_cast<int64_t>(dimensionsOf(component).size()); ++dimension)
    if (dimension != vector && arePlaces(component, dimension))
      return dimension;
  return -1;
}

/// Takes those components out of the indices and the numbers; null if there are none, or nothing else.
mlir::Value withoutOwnPlaces(mlir::Value indices, ArrayRef<int64_t> tensor, Numbers &numbers) {
  auto joined = indices.getDefiningOp<stablehlo::ConcatenateOp>();
  auto vector = static_cast<size_t>(numbers.vector);
  if (!joined || joined->getNumOperands() != numbers.map.size() ||
      static_cast<int64_t>(joined.getDimension()) != numbers.vector)
    return {};
  SmallVector<mlir::Value> kept;
  Dimensions map;
  for (auto [component, target] : llvm::zip_equal(joined->getOperands(), numbers.map)) {
    ArrayRef<int64_t> sizes = dimensionsOf(component);
    int64_t dimension = sizes[vector] == 1 && llvm::is_contained(numbers.collapsed, target)
                            ? ownDimension(component, numbers.vector)
                            : -1;
    bool isOwn = dimension >= 0 &&
                 sizes[static_cast<size_t>(dimension)] == tensor[static_cast<size_t>(target)] &&
                 !llvm::is_contained(numbers.indicesBatching, dimension);
    if (!isOwn) {
      kept.push_back(component);
      map.push_back(target);
      continue;
    }
    llvm::erase(numbers.collapsed, target);
    auto place = llvm::lower_bound(numbers.batching, target) - numbers.batching.begin();
    numbers.batching.insert(numbers.batching.begin() + place, target);
    numbers.indicesBatching.insert(numbers.indicesBatching.begin() + place, dimension);
  }
  if (kept.empty() || kept.size() == numbers.map.size())
    return {};
  numbers.map = map;
  if (kept.size() == 1)
    return kept.front();
  OpBuilder builder(joined);
  Dimensions sizes(dimensionsOf(indices));
  sizes[vector] = static_cast<int64_t>(kept.size());
  OperationState state(joined.getLoc(), stablehlo::ConcatenateOp::getOperationName());
  state.addOperands(kept);
  state.addTypes(cast<RankedTensorType>(indices.getType()).clone(sizes));
  state.addAttribute("dimension", builder.getI64IntegerAttr(numbers.vector));
  return builder.create(state)->getResult(0);
}

bool hasStaticTypes(Operation *op) {
  return llvm::all_of(op->getOperandTypes(),
                      [](Type type) { return cast<RankedTensorType>(type).hasStaticShape(); });
}

bool rewriteGather(stablehlo::GatherOp op) {
  stablehlo::GatherDimensionNumbersAttr given = op.getDimensionNumbers();
  Numbers numbers{Dimensions(given.getCollapsedSliceDims()), Dimensions(given.getOperandBatchingDims()),
                  Dimensions(given.getStartIndicesBatchingDims()), Dimensions(given.getStartIndexMap()),
                  given.getIndexVectorDim()};
  mlir::Value indices = withoutOwnPlaces(op.getStartIndices(), dimensionsOf(op.getOperand()), numbers);
  if (!indices)
    return false;
  op->setOperand(1, indices);
  op.setDimensionNumbersAttr(stablehlo::GatherDimensionNumbersAttr::get(
      op.getContext(), given.getOffsetDims(), numbers.collapsed, numbers.batching, numbers.indicesBatching,
      numbers.map, numbers.vector));
  return true;
}

bool rewriteScatter(stablehlo::ScatterOp op) {
  stablehlo::ScatterDimensionNumbersAttr given = op.getScatterDimensionNumbers();
  Numbers numbers{Dimensions(given.getInsertedWindowDims()), Dimensions(given.getInputBatchingDims()),
                  Dimensions(given.getScatterIndicesBatchingDims()),
                  Dimensions(given.getScatterDimsToOperandDims()), given.getIndexVectorDim()};
  mlir::Value indices = withoutOwnPlaces(op.getScatterIndices(), dimensionsOf(op->getOperand(0)), numbers);
  if (!indices)
    return false;
  op->setOperand(op->getNumResults(), indices);
  op.setScatterDimensionNumbersAttr(stablehlo::ScatterDimensionNumbersAttr::get(
      op.getContext(), given.getUpdateWindowDims(), numbers.collapsed, numbers.batching,
      numbers.indicesBatching, numbers.map, numbers.vector));
  return true;
}

} // namespace

int64_t fuseOwnPlaces(func::FuncOp function) {
  int64_t count = 0;
  function.walk([&](Operation *op) {
    if (!isa<stablehlo::GatherOp, stablehlo::ScatterOp>(op) || !hasStaticTypes(op))
      return;
    auto gather = dyn_cast<stablehlo::GatherOp>(op);
    count += gather ? rewriteGather(gather) : rewriteScatter(cast<stablehlo::ScatterOp>(op));
  });
  return count;
}

} // namespace torchere::cpu
