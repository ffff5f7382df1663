// Expands torch_index_select: slices of one dimension are gathered.
#include "cpu/frontend/expansion/expansion.h"
#include "stablehlo/dialect.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// The dimensions of a selection.
struct Selection {
  int64_t dimension = 0; ///< of the operand: where the indices choose
  int64_t batch = 0;     ///< dimensions in front that operand and indices share
  ArrayRef<int64_t> operand, indices, result;

  int64_t chosen() const { return static_cast<int64_t>(indices.size()) - batch; }
  /// The op has no verifier. A slice of one element must be there.
  bool isValid() const {
    auto rank = static_cast<int64_t>(operand.size());
    if (batch < 0 || batch > dimension || dimension >= rank || chosen() < 0 ||
        operand[static_cast<size_t>(dimension)] == 0)
      return false;
    auto before = static_cast<size_t>(dimension), shared = static_cast<size_t>(batch);
    SmallVector<int64_t> expected(operand.take_front(before));
    llvm::append_range(expected, indices.drop_front(shared));
    llvm::append_range(expected, operand.drop_front(before + 1));
    return operand.take_front(shared) == indices.take_front(shared) && result == ArrayRef(expected);
  }
};

std::optional<Selection> selectionOf(stablehlo::TorchIndexSelectOp op) {
  auto operand = dyn_cast<RankedTensorType>(op.getOperand().getType()),
       indices = dyn_cast<RankedTensorType>(op.getIndex().getType()),
       result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  bool isStatic = operand && indices && result && operand.hasStaticShape() && indices.hasStaticShape() &&
                  result.hasStaticShape();
  if (!isStatic || !isa<IntegerType>(indices.getElementType()) ||
      operand.getElementType() != result.getElementType())
    return std::nullopt;
  Selection selection{static_cast<int64_t>(op.getDim()), static_cast<int64_t>(op.getBatchDims()),
                      operand.getShape(), indices.getShape(), result.getShape()};
  return selection.isValid() ? std::optional(selection) : std::nullopt;
}

void replaceByGather(stablehlo::TorchIndexSelectOp op, const Selection &selection) {
  SmallVector<int64_t> offsets, shared, sizes(selection.operand);
  llvm::append_range(shared, llvm::seq<int64_t>(0, selection.batch));
  int64_t rank = static_cast<int64_t>(selection.operand.size());
  for (int64_t i = selection.batch; i < rank; ++i)
    if (i != selection.dimension)
      offsets.push_back(i < selection.dimension ? i : i - 1 + selection.chosen());
  for (int64_t i : shared)
    sizes[static_cast<size_t>(i)] = 1;
  sizes[static_cast<size_t>(selection.dimension)] = 1;
  OpBuilder builder(op);
  auto numbers = stablehlo::GatherDimensionNumbersAttr::get(
      op.getContext(), offsets, /*collapsedSliceDims=*/{selection.dimension}, /*operandBatchingDims=*/shared,
      /*startIndicesBatchingDims=*/shared, /*startIndexMap=*/{selection.dimension},
      /*indexVectorDim=*/static_cast<int64_t>(selection.indices.size()));
  OperationState state(op.getLoc(), stablehlo::GatherOp::getOperationName(), op->getOperands(),
                       op->getResultTypes());
  state.addAttribute("dimension_numbers", numbers);
  state.addAttribute("slice_sizes", builder.getDenseI64ArrayAttr(sizes));
  op->replaceAllUsesWith(builder.create(state));
  op->erase();
}

} // namespace

void expandSelections(func::FuncOp function) {
  SmallVector<stablehlo::TorchIndexSelectOp> found;
  function.walk([&](stablehlo::TorchIndexSelectOp op) { found.push_back(op); });
  for (stablehlo::TorchIndexSelectOp op : found)
    if (std::optional<Selection> selection = selectionOf(op))
      replaceByGather(op, *selection);
}

} // namespace torchere::cpu
