// The parts of complex numbers beside each other in a last dimension, as torch's view_as_real has them: the
// memory of the numbers, read as what they are made of.
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/fusion/pattern.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// The numbers whose parts of this kind the value has, in a dimension of size 1 more.
template <class Op> mlir::Value numbersOf(mlir::Value value) {
  auto reshape = value.getDefiningOp<stablehlo::ReshapeOp>();
  auto part = reshape ? reshape->getOperand(0).getDefiningOp<Op>() : Op();
  if (!part)
    return {};
  mlir::Value numbers = part->getOperand(0);
  auto type = dyn_cast<RankedTensorType>(numbers.getType());
  if (!type || !isa<ComplexType>(type.getElementType()))
    return {};
  SmallVector<int64_t> expected(type.getShape());
  expected.push_back(1);
  return dimensionsOf(value) == ArrayRef<int64_t>(expected) ? numbers : mlir::Value();
}

bool replaceJoinedParts(stablehlo::ConcatenateOp joined) {
  auto last = static_cast<uint64_t>(dimensionsOf(joined.getResult()).size()) - 1;
  if (joined->getNumOperands() != 2 || joined.getDimension() != last)
    return false;
  mlir::Value numbers = numbersOf<stablehlo::RealOp>(joined->getOperand(0));
  if (!numbers || numbers != numbersOf<stablehlo::ImagOp>(joined->getOperand(1)))
    return false;
  OpBuilder builder(joined);
  auto call = createKernelCall(builder, joined.getLoc(), "parts", joined->getResultTypes(), numbers, {});
  joined.getResult().replaceAllUsesWith(call->getResult(0));
  joined.erase();
  return true;
}

} // namespace

int64_t fuseComplexParts(func::FuncOp function) {
  SmallVector<stablehlo::ConcatenateOp> found;
  function.walk([&](stablehlo::ConcatenateOp op) { found.push_back(op); });
  return llvm::count_if(found, replaceJoinedParts);
}

} // namespace torchere::cpu
