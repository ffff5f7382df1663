// Splits convolutions of volumes whose input has zeros between its images, as transposed ones are, into one
// for each phase of the depth: output images so far apart meet the same taps, and no product is with the
// zeros.
#include "cpu/frontend/fusion/convolution_call.h"
#include "cpu/frontend/fusion/fusion.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

RankedTensorType volumeTypeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// The depth is the first of the spatial dimensions.
class DepthSplit {
public:
  explicit DepthSplit(stablehlo::ConvolutionOp op)
      : op(op), builder(op), numbers(op.getDimensionNumbers()), type(volumeTypeOf(op->getResult(0))),
        padding(paddingOf(op)), phases((*op.getLhsDilation())[0]),
        images(volumeTypeOf(op.getLhs()).getDimSize(first(numbers.getInputSpatialDimensions()))),
        taps(volumeTypeOf(op.getRhs()).getDimSize(first(numbers.getKernelSpatialDimensions()))),
        outputs(type.getDimSize(first(numbers.getOutputSpatialDimensions()))) {
    auto reversal = op->getAttrOfType<DenseBoolArrayAttr>("window_reversal");
    isReversed = reversal && reversal.asArrayRef()[0];
  }

  /// Whether each phase has taps, as many outputs as the others, and is no crop of its input.
  bool isEven() const {
    return taps >= phases && outputs % phases == 0 && llvm::all_of(llvm::seq(phases), [&](int64_t phase) {
             Phase p = phaseOf(phase);
             return p.low >= 0 && p.high >= 0;
           });
  }

  void replace() {
    SmallVector<Value> results;
    unsigned axis = first(numbers.getOutputSpatialDimensions());
    SmallVector<int64_t> apart(type.getShape());
    apart[axis] = outputs / phases;
    apart.insert(apart.begin() + axis + 1, 1);
    for (int64_t phase = 0; phase < phases; ++phase)
      results.push_back(reshaped(convolved(phaseOf(phase)), apart));
    apart[axis + 1] = phases;
    Value joined = stablehlo::ConcatenateOp::create(builder, op.getLoc(), type.clone(apart), results,
                                                    static_cast<uint64_t>(axis) + 1);
    op->getResult(0).replaceAllUsesWith(reshaped(joined, type.getShape()));
    op->erase();
  }

private:
  struct Phase {
    int64_t firstTap, taps; ///< `phases` apart
    int64_t low, high;      ///< padding, in images
  };

  static unsigned first(ArrayRef<int64_t> dimensions) { return static_cast<unsigned>(dimensions[0]); }

  /// Output image q * phases + phase meets image q + i at tap firstTap + (i + low) * phases.
  Phase phaseOf(int64_t phase) const {
    int64_t shift = padding[0] - phase, firstTap = ((shift % phases) + phases) % phases;
    Phase p{firstTap, (taps - firstTap + phases - 1) / phases, (shift - firstTap) / phases, 0};
    p.high = outputs / phases + p.taps - 1 - images - p.low;
    return p;
  }

  Value reshaped(Value value, ArrayRef<int64_t> shape) {
    return stablehlo::ReshapeOp::create(builder, op.getLoc(), type.clone(shape), value);
  }

  Value weightsOf(const Phase &phase) {
    RankedTensorType given = volumeTypeOf(op.getRhs());
    unsigned axis = first(numbers.getKernelSpatialDimensions());
    SmallVector<int64_t> starts(static_cast<size_t>(given.getRank()), 0), limits(given.getShape()),
        strides(starts.size(), 1), shape(given.getShape());
    int64_t span = (phase.taps - 1) * phases;
    starts[axis] = isReversed ? taps - 1 - phase.firstTap - span : phase.firstTap;
    limits[axis] = starts[axis] + span + 1;
    strides[axis] = phases;
    shape[axis] = phase.taps;
    return stablehlo::SliceOp::create(
        builder, op.getLoc(), given.clone(shape), op.getRhs(), builder.getDenseI64ArrayAttr(starts),
        builder.getDenseI64ArrayAttr(limits), builder.getDenseI64ArrayAttr(strides));
  }

  Value convolved(const Phase &phase) {
    Value weights = weightsOf(phase);
    Operation *made = builder.clone(*op);
    made->setOperand(1, weights);
    SmallVector<int64_t> dilation(*op.getLhsDilation()), shape(type.getShape()), around(padding);
    dilation[0] = 1;
    around[0] = phase.low;
    around[1] = phase.high;
    shape[first(numbers.getOutputSpatialDimensions())] = outputs / phases;
    made->setAttr("lhs_dilation", builder.getDenseI64ArrayAttr(dilation));
    made->setAttr("padding", paddingAttribute(builder, around));
    made->getResult(0).setType(type.clone(shape));
    return made->getResult(0);
  }

  stablehlo::ConvolutionOp op;
  OpBuilder builder;
  stablehlo::ConvDimensionNumbersAttr numbers;
  RankedTensorType type;
  SmallVector<int64_t> padding;
  int64_t phases, images, taps, outputs;
  bool isReversed;
};

bool isOfDilatedDepth(stablehlo::ConvolutionOp op) {
  auto isStatic = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.hasStaticShape() && isa<FloatType>(type.getElementType());
  };
  auto isOne = [](std::optional<ArrayRef<int64_t>> list) { return !list || (*list)[0] == 1; };
  return op.getDimensionNumbers().getInputSpatialDimensions().size() == 3 && op.getLhsDilation() &&
         (*op.getLhsDilation())[0] > 1 && isOne(op.getWindowStrides()) && isOne(op.getRhsDilation()) &&
         op.getFeatureGroupCount() == 1 && op.getBatchGroupCount() == 1 &&
         llvm::all_of(op->getOperands(), isStatic) && isStatic(op->getResult(0)) && DepthSplit(op).isEven();
}

} // namespace

int64_t fuseDilatedDepths(func::FuncOp function) {
  SmallVector<stablehlo::ConvolutionOp> found;
  function.walk([&](stablehlo::ConvolutionOp op) {
    if (isOfDilatedDepth(op))
      found.push_back(op);
  });
  for (stablehlo::ConvolutionOp op : found)
    DepthSplit(op).replace();
  return static_cast<int64_t>(found.size());
}

} // namespace torchere::cpu
