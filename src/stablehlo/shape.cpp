// Constants, and ops that rearrange elements: inference, verifiers and folds.
#include "stablehlo/assembly.h"
#include "stablehlo/bounds.h"
#include "stablehlo/broadcast_shape.h"
#include "stablehlo/constraint.h"
#include "stablehlo/dialect.h"
#include "stablehlo/quantized_types.h"
#include "stablehlo/sizes.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "stablehlo/shape.cpp.inc"

namespace torchere::stablehlo {

void addShapeOps(StableHLODialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "stablehlo/shape.cpp.inc"
      >();
}

//===- constant -----------------------------------------------------------===//

LogicalResult ConstantOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getValue().getType());
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) {
  return getValue();
}

void ConstantOp::getAsmResultNames(function_ref<void(Value, StringRef)> setName) {
  setName(getResult(), isa<IntegerType>(elementType(getType())) ? "c" : "cst");
}

// `stablehlo.constant {attributes} dense<...> : type`, when the type is the value's own; a quantized constant
// is `stablehlo.constant() <{value = dense<...> : type}> {attributes} : () -> type`.
void ConstantOp::print(OpAsmPrinter &printer) {
  if (getValue().getType() == getType()) {
    printer.printOptionalAttrDict((*this)->getAttrs(), /*elidedAttrs=*/{"value"});
    printer << ' ' << getValue();
    return;
  }
  printer << "() <{value = " << getValue() << "}>";
  printer.printOptionalAttrDict((*this)->getAttrs(), /*elidedAttrs=*/{"value"});
  printer << " : () -> " << getType();
}

/// What follows the opening parenthesis of `() <{value = dense<...> : type}> {attributes} : () -> type`.
/// Without the angle brackets the value is among the attributes, as in programs of older versions.
static ParseResult parseQuantizedConstant(OpAsmParser &parser, OperationState &result) {
  FunctionType type;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseRParen())
    return failure();
  if (succeeded(parser.parseOptionalLess()) &&
      (parser.parseOptionalAttrDict(result.attributes) || parser.parseGreater()))
    return failure();
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type))
    return failure();
  if (!isa_and_present<ElementsAttr>(result.attributes.get("value")) || type.getNumInputs() != 0 ||
      type.getNumResults() != 1)
    return parser.emitError(place) << "expected the attribute 'value' and the type of one result";
  result.addTypes(type.getResults());
  return success();
}

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  ElementsAttr value;
  if (succeeded(parser.parseOptionalLParen()))
    return parseQuantizedConstant(parser, result);
  if (parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseAttribute(value, "value", result.attributes))
    return failure();
  result.addTypes(value.getType());
  return success();
}

//===- bitcast_convert ----------------------------------------------------===//

static int64_t bitWidth(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * complex.getElementType().getIntOrFloatBitWidth();
  auto quantized = dyn_cast<quant::QuantizedType>(element);
  return (quantized ? quantized.getStorageType() : element).getIntOrFloatBitWidth();
}

LogicalResult BitcastConvertOp::verify() {
  Reporter reporter(*this);
  auto wide = getOperand().getType(), narrow = getType();
  if (isComplex(wide.getElementType()) != isComplex(narrow.getElementType()))
    return reporter.violation("C2", "only one of operand and result is complex: got ", wide, " and ", narrow);
  if (bitWidth(wide.getElementType()) < bitWidth(narrow.getElementType()))
    std::swap(wide, narrow);
  int64_t wideBits = bitWidth(wide.getElementType()), narrowBits = bitWidth(narrow.getElementType());
  SmallVector<int64_t> expected(wide.getShape());
  if (wideBits != narrowBits) {
    if (wideBits % narrowBits != 0)
      return reporter.violation("C1", "elements of ", wideBits, " bits cannot be split into elements of ",
                                narrowBits, " bits");
    expected.push_back(wideBits / narrowBits);
  }
  if (failed(verifyCompatibleShape(expected, narrow.getShape())))
    return reporter.violation("C1", "shapes of operand and result do not hold the same bits: got ",
                              getOperand().getType(), " and ", getType(), ", expected ",
                              narrow.clone(expected), " for ", wide);
  return success();
}

OpFoldResult BitcastConvertOp::fold(FoldAdaptor) {
  return getOperand().getType() == getType() ? getOperand() : OpFoldResult();
}

//===- broadcast ----------------------------------------------------------===//

LogicalResult BroadcastOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  SmallVector<int64_t> shape(adaptor.getBroadcastSizes());
  if (failed(Reporter(location, getOperationName()).atLeast("", "broadcast_sizes", shape, 0)))
    return failure();
  llvm::append_range(shape, operand.getShape());
  types.push_back(operand.clone(shape));
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  return getOperand().getType() == getType() ? getOperand() : OpFoldResult();
}

//===- broadcast_in_dim ---------------------------------------------------===//

LogicalResult BroadcastInDimOp::verify() {
  return verifyBroadcast(Reporter(*this), getOperand().getType(), getType(), getBroadcastDimensions());
}

OpFoldResult BroadcastInDimOp::fold(FoldAdaptor) {
  bool isIdentity = llvm::equal(getBroadcastDimensions(), llvm::seq<int64_t>(0, getType().getRank()));
  return isIdentity && getOperand().getType() == getType() ? getOperand() : OpFoldResult();
}

//===- concatenate --------------------------------------------------------===//

LogicalResult ConcatenateOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                              Adaptor adaptor, SmallVectorImpl<Type> &types) {
  Reporter reporter(location, getOperationName());
  if (adaptor.getInputs().empty())
    return reporter.violation("C3", "no inputs: expected at least one");
  auto first = cast<RankedTensorType>(adaptor.getInputs().front().getType());
  int64_t axis = adaptor.getDimension();
  if (failed(reporter.inRange("C4", "dimension", axis, first.getRank())))
    return failure();
  SmallVector<int64_t> shape(first.getShape());
  for (Value input : adaptor.getInputs().drop_front()) {
    auto type = cast<RankedTensorType>(input.getType());
    if (type.getElementType() != first.getElementType())
      return reporter.violation("C1", "element types of the inputs differ: got ", first.getElementType(),
                                " and ", type.getElementType());
    if (type.getRank() != first.getRank())
      return reporter.violation("C2", "ranks of the inputs differ: got ", first, " and ", type);
    for (auto [index, known] : llvm::enumerate(shape)) {
      int64_t size = type.getDimSize(index);
      if (static_cast<int64_t>(index) == axis) {
        if (!isKnown(known) || !isKnown(size))
          known = ShapedType::kDynamic;
        else if (llvm::AddOverflow(known, size, known))
          return reporter.violation("C6", "size of result dimension ", index, ": more than 2^63 - 1");
      } else if (!mayEqual(known, size))
        return reporter.violation("C2", "sizes of the inputs' dimension ", index, " differ: got ", known,
                                  " and ", size);
      else if (!isKnown(known))
        known = size;
    }
  }
  types.push_back(withShape(first, shape));
  return success();
}

//===- get_dimension_size -------------------------------------------------===//

LogicalResult GetDimensionSizeOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                                   Adaptor adaptor, SmallVectorImpl<Type> &types) {
  int64_t rank = cast<RankedTensorType>(adaptor.getOperand().getType()).getRank();
  if (failed(Reporter(location, getOperationName()).inRange("C1", "dimension", adaptor.getDimension(), rank)))
    return failure();
  types.push_back(RankedTensorType::get({}, IntegerType::get(context, 32)));
  return success();
}

OpFoldResult GetDimensionSizeOp::fold(FoldAdaptor) {
  int64_t size = getOperand().getType().getDimSize(getDimension());
  if (!isKnown(size) || size > std::numeric_limits<int32_t>::max())
    return {};
  return DenseIntElementsAttr::get(cast<ShapedType>(getType()), static_cast<int32_t>(size));
}

//===- iota ---------------------------------------------------------------===//

LogicalResult IotaOp::verify() {
  return Reporter(*this).inRange("C1", "iota_dimension", static_cast<int64_t>(getIotaDimension()),
                                 getType().getRank());
}

//===- pad ----------------------------------------------------------------===//

LogicalResult PadOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  Reporter reporter(location, getOperationName());
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  Type padding = elementType(adaptor.getPaddingValue().getType());
  int64_t rank = operand.getRank();
  ArrayRef<int64_t> low = adaptor.getEdgePaddingLow(), high = adaptor.getEdgePaddingHigh();
  ArrayRef<int64_t> interior = adaptor.getInteriorPadding();
  if (padding != operand.getElementType())
    return reporter.violation("C1", "element types of operand and padding_value differ: got ",
                              operand.getElementType(), " and ", padding);
  if (failed(reporter.size("C2", "edge_padding_low", low.size(), rank)) ||
      failed(reporter.size("C2", "edge_padding_high", high.size(), rank)) ||
      failed(reporter.size("C2", "interior_padding", interior.size(), rank)) ||
      failed(reporter.atLeast("C3", "interior_padding", interior, 0)))
    return failure();
  SmallVector<int64_t> shape(operand.getShape());
  for (auto [index, size] : llvm::enumerate(shape)) {
    if (!isKnown(size))
      continue;
    WideSize between = static_cast<WideSize>(std::max<int64_t>(size - 1, 0)) * interior[index];
    std::optional<int64_t> padded =
        narrowSize(static_cast<WideSize>(low[index]) + size + between + high[index]);
    if (!padded)
      return reporter.violation("C4", "size of result dimension ", index, " lies beyond the range of int64");
    if (*padded < 0)
      return reporter.violation("C4", "result dimension ", index, " would have the negative size ", *padded);
    size = *padded;
  }
  types.push_back(withShape(operand, shape));
  return success();
}

//===- reshape ------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  Reporter reporter(*this);
  auto operand = getOperand().getType();
  if (failed(verifyMovedElements(reporter, "C1", operand, getType())) ||
      failed(verifySameCount(reporter, "C2", operand, getType())))
    return failure();
  return verifyReshapedScales(reporter, "C3", operand, getType());
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  if (auto value = dyn_cast_if_present<DenseElementsAttr>(adaptor.getOperand()))
    return value.reshape(getType());
  return {};
}

//===- reverse ------------------------------------------------------------===//

LogicalResult ReverseOp::verify() {
  Reporter reporter(*this);
  return failure(
      failed(reporter.unique("C2", "dimensions", getDimensions())) ||
      failed(reporter.inRange("C3", "dimensions", getDimensions(), getOperand().getType().getRank())));
}

//===- transpose ----------------------------------------------------------===//

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  Reporter reporter(location, getOperationName());
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  if (failed(reporter.size("C2", "permutation", permutation.size(), operand.getRank())) ||
      failed(reporter.inRange("C2", "permutation", permutation, operand.getRank())) ||
      failed(reporter.unique("C2", "permutation", permutation)))
    return failure();
  SmallVector<int64_t> shape, bounds, operandBounds = boundsOf(operand);
  Type element = operand.getElementType();
  for (auto [index, dimension] : llvm::enumerate(permutation)) {
    shape.push_back(operand.getDimSize(dimension));
    bounds.push_back(operandBounds[dimension]);
    if (quantizedDimension(operand.getElementType()) == dimension)
      element = withQuantizedDimension(element, index);
  }
  types.push_back(withShape(operand, shape, bounds).clone(element));
  return success();
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  bool isIdentity = llvm::equal(getPermutation(), llvm::seq<int64_t>(0, getType().getRank()));
  return isIdentity && getOperand().getType() == getType() ? getOperand() : OpFoldResult();
}

} // namespace torchere::stablehlo
