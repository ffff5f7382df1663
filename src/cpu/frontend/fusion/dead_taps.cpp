// Drops the taps of convolutions that meet padding alone, as most do where the dilation of the window is
// larger than the image (DeepLab's pyramid): the kernel is a slice of the weights, which is a view.
#include "cpu/frontend/fusion/convolution_call.h"
#include "cpu/frontend/fusion/fusion.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// An axis of space: the kernel, with the padding before and behind the input.
struct Window {
  int64_t input, output, stride, dilation;
  int64_t first, end; ///< taps
  int64_t low, high;  ///< padding

  bool meetsInput(int64_t tap) const {
    int64_t place = tap * dilation; // of output 0, in the padded input
    int64_t last = place + (output - 1) * stride;
    if (place >= low + input || last < low)
      return false;
    // The first output whose place is behind the padding.
    int64_t skipped = place >= low ? 0 : (low - place + stride - 1) / stride;
    return place + skipped * stride < low + input;
  }
  /// Leaves padding that is not negative, and a tap.
  void drop() {
    int64_t before = 0, behind = 0, taps = end;
    while (before + 1 < taps && (before + 1) * dilation <= low && !meetsInput(before))
      ++before;
    while (before + behind + 1 < taps && (behind + 1) * dilation <= high && !meetsInput(taps - 1 - behind))
      ++behind;
    first = before;
    end = taps - behind;
    low -= before * dilation;
    high -= behind * dilation;
  }
};

bool dropTaps(stablehlo::ConvolutionOp op) {
  auto input = dyn_cast<RankedTensorType>(op.getLhs().getType()),
       weights = dyn_cast<RankedTensorType>(op.getRhs().getType()),
       output = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  bool isStatic = input && weights && output && input.hasStaticShape() && weights.hasStaticShape() &&
                  output.hasStaticShape() && output.getNumElements() > 0 && input.getNumElements() > 0;
  auto reversal = op->getAttrOfType<DenseBoolArrayAttr>("window_reversal");
  if (!isStatic || !isAll(op.getLhsDilation(), 1) ||
      (reversal && llvm::is_contained(reversal.asArrayRef(), true)))
    return false;
  stablehlo::ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
  SmallVector<int64_t> padding = paddingOf(op), begin(static_cast<size_t>(weights.getRank()), 0),
                       end(weights.getShape()), one(static_cast<size_t>(weights.getRank()), 1);
  for (size_t axis = 0; axis < numbers.getKernelSpatialDimensions().size(); ++axis) {
    auto space = static_cast<size_t>(numbers.getKernelSpatialDimensions()[axis]);
    auto at = [&](std::optional<ArrayRef<int64_t>> list) { return list ? (*list)[axis] : 1; };
    Window window{input.getDimSize(numbers.getInputSpatialDimensions()[axis]),
                  output.getDimSize(numbers.getOutputSpatialDimensions()[axis]),
                  at(op.getWindowStrides()),
                  at(op.getRhsDilation()),
                  0,
                  weights.getShape()[space],
                  padding[2 * axis],
                  padding[2 * axis + 1]};
    window.drop();
    begin[space] = window.first;
    end[space] = window.end;
    padding[2 * axis] = window.low;
    padding[2 * axis + 1] = window.high;
  }
  SmallVector<int64_t> shape;
  for (auto [from, to] : llvm::zip_equal(begin, end))
    shape.push_back(to - from);
  if (ArrayRef<int64_t>(shape) == weights.getShape())
    return false;
  OpBuilder builder(op);
  Value slice =
      stablehlo::SliceOp::create(builder, op.getLoc(), weights.clone(shape), op.getRhs(),
                                 builder.getDenseI64ArrayAttr(begin), builder.getDenseI64ArrayAttr(end),
                                 builder.getDenseI64ArrayAttr(one))
          ->getResult(0);
  op->setOperand(1, slice);
  op->setAttr("padding", paddingAttribute(builder, padding));
  return true;
}

} // namespace

int64_t fuseDeadTaps(func::FuncOp function) {
  int64_t count = 0;
  function.walk([&](stablehlo::ConvolutionOp op) { count += dropTaps(op); });
  return count;
}

} // namespace torchere::cpu
