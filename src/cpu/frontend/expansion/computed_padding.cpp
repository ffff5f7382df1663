// Expands convolutions with computed padding: the input is padded, and dilated, before them.
#include "cpu/frontend/expansion/expansion.h"
#include "stablehlo/dialect.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// An axis of space.
struct PaddedAxis {
  int64_t dimension; ///< of the input
  int64_t dilation;  ///< of the input
  int64_t stride;
  int64_t dilated; ///< the input's size
  int64_t reach;   ///< of the window's taps
  int64_t padded;  ///< what the outputs read
};

class ConvolutionExpansion {
public:
  explicit ConvolutionExpansion(stablehlo::DynamicConvOp op)
      : op(op), builder(op), location(op.getLoc()), input(cast<RankedTensorType>(op.getLhs().getType())),
        result(cast<RankedTensorType>(op->getResult(0).getType())) {}

  void replace() {
    DenseIntElementsAttr constant;
    if (matchPattern(op.getPadding(), m_Constant(&constant)))
      return finish(op.getLhs(), paddingOf(constant));
    Value zero = zeroOf(input.getElementType());
    if (result.getNumElements() == 0) // windows without an output tell no size
      return finish(spread(zeroOf(result.getElementType()), result));
    measure();
    finish(padded(zero), {});
  }

private:
  static Value firstResult(Operation *made) { return made->getResult(0); }
  Value zeroOf(Type element) {
    Type part = isa<ComplexType>(element) ? cast<ComplexType>(element).getElementType() : element;
    auto scalar = RankedTensorType::get({}, part);
    Value zero = stablehlo::ConstantOp::create(builder, location,
                                               DenseElementsAttr::get(scalar, builder.getZeroAttr(part)));
    return part == element
               ? zero
               : Value(stablehlo::ConvertOp::create(builder, location, scalar.clone(element), zero));
  }
  Value spread(Value scalar, Type type) {
    return stablehlo::BroadcastInDimOp::create(builder, location, type, scalar,
                                               builder.getDenseI64ArrayAttr({}));
  }
  Value integers(ArrayRef<int64_t> values) {
    return stablehlo::ConstantOp::create(builder, location, builder.getI64TensorAttr(values));
  }
  DenseIntElementsAttr paddingOf(DenseIntElementsAttr given) {
    SmallVector<int64_t> values;
    for (const APInt &value : given.getValues<APInt>())
      values.push_back(given.getElementType().isUnsignedInteger() ? static_cast<int64_t>(value.getZExtValue())
                                                                  : value.getSExtValue());
    return DenseIntElementsAttr::get(
        RankedTensorType::get(cast<ShapedType>(given.getType()).getShape(), builder.getI64Type()), values);
  }

  void measure() {
    stablehlo::ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
    auto window = cast<RankedTensorType>(op.getRhs().getType());
    for (size_t i = 0; i < numbers.getInputSpatialDimensions().size(); ++i) {
      auto at = [&](std::optional<ArrayRef<int64_t>> list) { return list ? (*list)[i] : 1; };
      auto size = [&](RankedTensorType type, ArrayRef<int64_t> spatial) {
        return type.getDimSize(static_cast<unsigned>(spatial[i]));
      };
      PaddedAxis axis{numbers.getInputSpatialDimensions()[i],
                      at(op.getLhsDilation()),
                      at(op.getWindowStrides()),
                      0,
                      0,
                      0};
      int64_t from = size(input, numbers.getInputSpatialDimensions());
      axis.dilated = from == 0 ? 0 : (from - 1) * axis.dilation + 1;
      axis.reach = (size(window, numbers.getKernelSpatialDimensions()) - 1) * at(op.getRhsDilation()) + 1;
      axis.padded = (size(result, numbers.getOutputSpatialDimensions()) - 1) * axis.stride + axis.reach;
      axes.push_back(axis);
    }
  }

  /// The padding below or above, by axis.
  Value side(Value padding, int64_t index) {
    auto count = static_cast<int64_t>(axes.size());
    auto column = RankedTensorType::get({count, 1}, builder.getI64Type());
    Value slice = stablehlo::SliceOp::create(
        builder, location, column, padding, builder.getDenseI64ArrayAttr({0, index}),
        builder.getDenseI64ArrayAttr({count, index + 1}), builder.getDenseI64ArrayAttr({1, 1}));
    return stablehlo::ReshapeOp::create(builder, location,
                                        RankedTensorType::get({count}, builder.getI64Type()), slice);
  }

  /// By dimension of the input, 0 for those that are no axes.
  Value byDimension(Value byAxis) {
    SmallVector<Value> parts(static_cast<size_t>(input.getRank()));
    auto single = RankedTensorType::get({1}, builder.getI64Type());
    for (auto [i, axis] : llvm::enumerate(axes)) {
      auto index = static_cast<int64_t>(i);
      parts[static_cast<size_t>(axis.dimension)] = stablehlo::SliceOp::create(
          builder, location, single, byAxis, builder.getDenseI64ArrayAttr({index}),
          builder.getDenseI64ArrayAttr({index + 1}), builder.getDenseI64ArrayAttr({1}));
    }
    for (Value &part : parts)
      part = part ? part : integers({0});
    return stablehlo::ConcatenateOp::create(builder, location,
                                            RankedTensorType::get({input.getRank()}, builder.getI64Type()),
                                            parts, builder.getI64IntegerAttr(0));
  }

  /// The padding above without what no window reaches, so that the result's type tells the padded size. If
  /// the padding does not give such a result, the pad is refused.
  Value reachedAbove(Value low, Value high) {
    SmallVector<int64_t> offsets, strides;
    for (const PaddedAxis &axis : axes) {
      offsets.push_back(axis.dilated - axis.reach);
      strides.push_back(axis.stride);
    }
    auto join = [&]<class Op>(Value a, Value b) -> Value { return Op::create(builder, location, a, b); };
    auto add = [&](Value a, Value b) { return join.operator()<stablehlo::AddOp>(a, b); };
    auto remainder = [&](Value a, Value b) { return join.operator()<stablehlo::RemOp>(a, b); };
    Value steps = integers(strides);
    Value excess = remainder(add(add(low, high), integers(offsets)), steps);
    excess = remainder(add(excess, steps), steps); // of a negative number too
    return join.operator()<stablehlo::SubtractOp>(high, excess);
  }

  Value padded(Value zero) {
    auto type = cast<RankedTensorType>(op.getPadding().getType());
    Value padding = op.getPadding();
    if (!type.getElementType().isSignlessInteger(64))
      padding = stablehlo::ConvertOp::create(builder, location, type.clone(builder.getI64Type()), padding);
    Value low = side(padding, 0), high = reachedAbove(low, side(padding, 1));
    SmallVector<int64_t> shape(input.getShape()), interior(shape.size());
    for (const PaddedAxis &axis : axes) {
      shape[static_cast<size_t>(axis.dimension)] = axis.padded;
      interior[static_cast<size_t>(axis.dimension)] = axis.dilation - 1;
    }
    return stablehlo::DynamicPadOp::create(builder, location, input.clone(shape), op.getLhs(), zero,
                                           byDimension(low), byDimension(high), integers(interior));
  }

  /// The convolution of an input that is dilated if it is padded; with the constant padding if there is one.
  void finish(Value operand, DenseIntElementsAttr padding) {
    OperationState state(location, stablehlo::ConvolutionOp::getOperationName(), {operand, op.getRhs()},
                         result, op->getAttrs());
    if (padding)
      state.attributes.set("padding", padding);
    else
      state.attributes.erase("lhs_dilation");
    finish(builder.create(state)->getResult(0));
  }
  void finish(Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }

  stablehlo::DynamicConvOp op;
  OpBuilder builder;
  Location location;
  RankedTensorType input, result;
  SmallVector<PaddedAxis> axes;
};

} // namespace

void expandComputedPadding(func::FuncOp function) {
  SmallVector<stablehlo::DynamicConvOp> found;
  function.walk([&](stablehlo::DynamicConvOp op) { found.push_back(op); });
  auto isPlain = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() &&
           (tensor.getElementType().isIntOrFloat() || isa<ComplexType>(tensor.getElementType()));
  };
  for (stablehlo::DynamicConvOp op : found)
    if (llvm::all_of(op->getOperandTypes(), isPlain) && isPlain(op->getResult(0).getType()))
      ConvolutionExpansion(op).replace();
}

} // namespace torchere::cpu
