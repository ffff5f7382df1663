// Reductions, sorting and map: inference and verifiers. The text of reduce is in reduction_assembly.cpp.
#include "stablehlo/assembly.h"
#include "stablehlo/bounds.h"
#include "stablehlo/constraint.h"
#include "stablehlo/dialect.h"
#include "stablehlo/region.h"
#include "stablehlo/window.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "stablehlo/reduction.cpp.inc"

namespace torchere::stablehlo {

void addReductionOps(StableHLODialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "stablehlo/reduction.cpp.inc"
      >();
}

namespace {

/// The shape of all inputs, with the dimensions that any of them knows.
FailureOr<SmallVector<int64_t>> commonShape(const Reporter &reporter, StringRef none, StringRef same,
                                            ValueRange inputs) {
  if (inputs.empty())
    return reporter.violation(none, "no inputs: expected at least one");
  SmallVector<int64_t> shape(cast<RankedTensorType>(inputs.front().getType()).getShape());
  for (Value input : inputs) {
    auto type = cast<RankedTensorType>(input.getType());
    if (failed(verifyCompatibleShape(shape, type.getShape())))
      return reporter.violation(same, "shapes of the inputs differ: got ", inputs.front().getType(), " and ",
                                type);
    for (auto [known, size] : llvm::zip(shape, type.getShape()))
      if (!isKnown(known))
        known = size;
  }
  return shape;
}

LogicalResult verifyInitValues(const Reporter &reporter, StringRef constraint, ValueRange inputs,
                               ValueRange initValues) {
  for (auto [input, init] : llvm::zip(inputs, initValues)) {
    auto type = cast<RankedTensorType>(init.getType());
    if (type.getRank() != 0 || type.getElementType() != elementType(input.getType()))
      return reporter.violation(constraint, "init value is ", type, " for an input of type ", input.getType(),
                                ", expected a scalar tensor of its element type");
  }
  return success();
}

/// One type of the given shape for each input; the elements are those that the body returns, once it exists.
void addResultTypes(ValueRange inputs, RegionRange regions, ArrayRef<int64_t> shape,
                    SmallVectorImpl<Type> &types) {
  SmallVector<Type> elements = returnedElementTypes(regions);
  for (auto [index, input] : llvm::enumerate(inputs))
    types.push_back(RankedTensorType::get(shape, index < elements.size() ? elements[index]
                                                                         : elementType(input.getType())));
}

} // namespace

//===- reduce -------------------------------------------------------------===//

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  Reporter reporter(location, getOperationName());
  FailureOr<SmallVector<int64_t>> input = commonShape(reporter, "C3", "C1", adaptor.getInputs());
  if (failed(input) ||
      failed(verifyInitValues(reporter, "C2", adaptor.getInputs(), adaptor.getInitValues())) ||
      failed(reporter.inRange("C4", "dimensions", adaptor.getDimensions(), input->size())) ||
      failed(reporter.unique("C5", "dimensions", adaptor.getDimensions())))
    return failure();
  SmallVector<int64_t> shape;
  for (auto [index, size] : llvm::enumerate(*input))
    if (!llvm::is_contained(adaptor.getDimensions(), static_cast<int64_t>(index)))
      shape.push_back(size);
  addResultTypes(adaptor.getInputs(), adaptor.getRegions(), shape, types);
  return success();
}

LogicalResult ReduceOp::verify() {
  return verifyReducer(Reporter(*this), "C6", getBody(), getInputs());
}

//===- reduce_window ------------------------------------------------------===//

LogicalResult ReduceWindowOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                               Adaptor adaptor, SmallVectorImpl<Type> &types) {
  Reporter reporter(location, getOperationName());
  FailureOr<SmallVector<int64_t>> input = commonShape(reporter, "C1", "C2", adaptor.getInputs());
  ArrayRef<int64_t> sizes = adaptor.getWindowDimensions();
  if (failed(input) ||
      failed(verifyInitValues(reporter, "C3", adaptor.getInputs(), adaptor.getInitValues())) ||
      failed(reporter.size("C4", "window_dimensions", sizes.size(), input->size())) ||
      failed(reporter.atLeast("C5", "window_dimensions", sizes, 1)))
    return failure();
  WindowAttributes attributes;
  attributes.arrays = {
      {"window_strides", adaptor.getWindowStrides(), &WindowDimension::stride, "C6", "C7"},
      {"base_dilations", adaptor.getBaseDilations(), &WindowDimension::baseDilation, "C8", "C9"},
      {"window_dilations", adaptor.getWindowDilations(), &WindowDimension::windowDilation, "C10", "C11"}};
  attributes.padding = adaptor.getPaddingAttr();
  attributes.paddingConstraint = "C12";
  FailureOr<SmallVector<WindowDimension>> window = joinWindow(reporter, sizes, attributes);
  if (failed(window))
    return failure();
  FailureOr<SmallVector<int64_t>> shape = inferPositions(reporter, "C15", *input, *window);
  if (failed(shape))
    return failure();
  addResultTypes(adaptor.getInputs(), adaptor.getRegions(), *shape, types);
  return success();
}

LogicalResult ReduceWindowOp::verify() {
  return verifyReducer(Reporter(*this), "C13", getBody(), getInputs());
}

//===- sort ---------------------------------------------------------------===//

LogicalResult SortOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  FailureOr<SmallVector<int64_t>> shape =
      commonShape(Reporter(location, getOperationName()), "C1", "C3", adaptor.getInputs());
  if (failed(shape))
    return failure();
  for (Value input : adaptor.getInputs()) {
    auto type = cast<RankedTensorType>(input.getType());
    types.push_back(withShape(type, *shape, boundsOf(type)));
  }
  return success();
}

LogicalResult SortOp::verify() {
  Reporter reporter(*this);
  if (getInputs().empty()) // MLIR verifies before inference
    return reporter.violation("C1", "no inputs: expected at least one");
  int64_t rank = cast<RankedTensorType>(getInputs().front().getType()).getRank();
  int64_t dimension = getDimension();
  if (dimension < -rank || dimension >= rank)
    return reporter.violation("C4", "dimension out of range: got ", dimension, ", expected it in [", -rank,
                              ", ", rank, ")");
  SmallVector<Type> arguments;
  for (Value input : getInputs())
    arguments.append(2, RankedTensorType::get({}, elementType(input.getType())));
  Type boolean = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  return verifyRegion(reporter, "C5", "comparator", getComparator(), arguments, boolean);
}

//===- map ----------------------------------------------------------------===//

LogicalResult MapOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  Reporter reporter(location, getOperationName());
  FailureOr<SmallVector<int64_t>> shape = commonShape(reporter, "C2", "C1", adaptor.getInputs());
  if (failed(shape))
    return failure();
  if (!llvm::equal(adaptor.getDimensions(), llvm::seq<int64_t>(0, shape->size())))
    return reporter.violation("C3", "dimensions: got [", adaptor.getDimensions(),
                              "], expected all of the inputs' in order, ", shape->size(), " of them");
  addResultTypes(adaptor.getInputs().take_front(), adaptor.getRegions(), *shape, types);
  return success();
}

LogicalResult MapOp::verify() {
  SmallVector<Type> arguments;
  for (Value input : getInputs())
    arguments.push_back(RankedTensorType::get({}, elementType(input.getType())));
  Type result = RankedTensorType::get({}, elementType(getResult().getType()));
  return verifyRegion(Reporter(*this), "C4", "computation", getComputation(), arguments, result);
}

//===- select_and_scatter -------------------------------------------------===//

LogicalResult SelectAndScatterOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                                   SmallVectorImpl<Type> &types) {
  // (C11), (C12): the operand's shape; the elements are what scatter returns.
  addResultTypes(adaptor.getOperand(), adaptor.getRegions().drop_front(),
                 cast<RankedTensorType>(adaptor.getOperand().getType()).getShape(), types);
  return success();
}

/// (C2) to (C8): one element of source for each position of the window over operand.
static LogicalResult verifySelectWindow(SelectAndScatterOp op) {
  Reporter reporter(op);
  ArrayRef<int64_t> sizes = op.getWindowDimensions().value_or(ArrayRef<int64_t>());
  auto operand = op.getOperand().getType(), source = op.getSource().getType();
  if (failed(reporter.size("C4", "window_dimensions", sizes.size(), operand.getRank())) ||
      failed(reporter.atLeast("C5", "window_dimensions", sizes, 1)))
    return failure();
  WindowAttributes attributes;
  attributes.arrays = {{"window_strides", op.getWindowStrides(), &WindowDimension::stride, "C6", "C7"}};
  attributes.padding = op.getPaddingAttr();
  attributes.paddingConstraint = "C8";
  FailureOr<SmallVector<WindowDimension>> window = joinWindow(reporter, sizes, attributes);
  if (failed(window))
    return failure();
  FailureOr<SmallVector<int64_t>> shape = inferPositions(reporter, "C2", operand.getShape(), *window);
  if (failed(shape))
    return failure();
  if (failed(verifyCompatibleShape(*shape, source.getShape())))
    return reporter.violation("C2", "source has the wrong shape: got ", source, ", expected ",
                              source.clone(*shape));
  return success();
}

LogicalResult SelectAndScatterOp::verify() {
  Reporter reporter(*this);
  if (failed(reporter.sameElements("C1", "operand", getOperand(), "source", getSource())) ||
      failed(reporter.sameElements("C3", "operand", getOperand(), "init_value", getInitValue())) ||
      failed(verifySelectWindow(*this)))
    return failure();
  Type scalar = RankedTensorType::get({}, elementType(getOperand().getType()));
  Type boolean = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  return failure(failed(verifyRegion(reporter, "C9", "select", getSelect(), {scalar, scalar}, boolean)) ||
                 failed(verifyReducer(reporter, "C10", getScatter(), getOperand(), "scatter")));
}

} // namespace torchere::stablehlo
