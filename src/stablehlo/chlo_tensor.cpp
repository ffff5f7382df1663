// CHLO's constants, top_k and scan: inference, verifiers and text. ragged_dot is in chlo_ragged_dot.cpp.
#include "stablehlo/chlo_dialect.h"
#include "stablehlo/constraint.h"
#include "stablehlo/region.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "stablehlo/chlo_tensor.cpp.inc"

namespace torchere::chlo {

using stablehlo::Reporter;

void addTensorOps(CHLODialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "stablehlo/chlo_tensor.cpp.inc"
      >();
}

//===- constants ----------------------------------------------------------===//

LogicalResult ConstantOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getValue().getType());
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) {
  return getValue();
}

LogicalResult ConstantLikeOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  types.push_back(cast<ShapedType>(adaptor.getOperand().getType()).clone(adaptor.getValue().getType()));
  return success();
}

//===- top_k --------------------------------------------------------------===//

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &types) {
  Reporter reporter(location, getOperationName());
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  int64_t k = adaptor.getK();
  if (operand.getRank() == 0)
    return reporter.violation("", "operand is a scalar, expected at least one dimension");
  if (failed(reporter.atLeast("", "k", k, 0)))
    return failure();
  int64_t size = operand.getShape().back();
  if (stablehlo::isKnown(size) && size < k)
    return reporter.violation("", "operand's last dimension too small: got ", size, ", expected at least ",
                              k);
  SmallVector<int64_t> shape(operand.getShape());
  shape.back() = k;
  types.push_back(operand.clone(shape));
  types.push_back(operand.clone(shape, IntegerType::get(context, 32)));
  return success();
}

//===- scan ---------------------------------------------------------------===//

/// The size of the scanned dimension: as given, or else as the inputs know it.
static int64_t scanSize(std::optional<uint64_t> given, ValueRange inputs, int64_t dimension) {
  int64_t size = given ? static_cast<int64_t>(*given) : ShapedType::kDynamic;
  for (Value input : inputs)
    if (!stablehlo::isKnown(size))
      size = cast<RankedTensorType>(input.getType()).getDimSize(dimension);
  return size;
}

/// Every input has the dimension.
static LogicalResult verifyScanDimension(const Reporter &reporter, ValueRange inputs, int64_t dimension) {
  for (Value input : inputs)
    if (failed(
            reporter.inRange("", "dimension", dimension, cast<RankedTensorType>(input.getType()).getRank())))
      return failure();
  return reporter.atLeast("", "dimension", dimension, 0);
}

LogicalResult ScanOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  Reporter reporter(location, getOperationName());
  int64_t dimension = adaptor.getDimension();
  TypeRange returned = stablehlo::returnedTypes(adaptor.getBody());
  size_t carries = adaptor.getInits().size();
  if (returned.size() < carries)
    return reporter.violation("", "body returns ", returned.size(), " values, expected one for each of ",
                              carries, " carries");
  if (failed(verifyScanDimension(reporter, adaptor.getInputs(), dimension)))
    return failure();
  for (auto [index, type] : llvm::enumerate(returned)) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return reporter.violation("", "body returns ", type, ", expected ranked tensors");
    SmallVector<int64_t> shape(tensor.getShape());
    if (index < returned.size() - carries) {
      if (failed(reporter.inRange("", "dimension", dimension, tensor.getRank() + 1)))
        return failure();
      shape.insert(shape.begin() + dimension,
                   scanSize(adaptor.getScanDimSize(), adaptor.getInputs(), dimension));
    }
    types.push_back(RankedTensorType::get(shape, tensor.getElementType()));
  }
  return success();
}

LogicalResult ScanOp::verify() {
  Reporter reporter(*this);
  if (getInputs().empty() && getOutputs().empty())
    return reporter.violation("", "neither inputs nor outputs: expected at least one");
  if (failed(verifyScanDimension(reporter, getInputs(), getDimension())))
    return failure();
  int64_t size = scanSize(getScanDimSize(), getInputs(), getDimension());
  SmallVector<Type> arguments;
  for (Value input : getInputs()) {
    auto type = cast<RankedTensorType>(input.getType());
    SmallVector<int64_t> shape(type.getShape());
    if (!stablehlo::mayEqual(shape[getDimension()], size))
      return reporter.violation("", "sizes of the scanned dimension differ: got ", shape[getDimension()],
                                " in ", type, ", expected ", size);
    shape.erase(shape.begin() + getDimension());
    arguments.push_back(RankedTensorType::get(shape, type.getElementType()));
  }
  llvm::append_range(arguments, getInits().getTypes());
  return stablehlo::verifyRegion(reporter, "", "body", getBody(), arguments,
                                 stablehlo::returnedTypes(getBody()));
}

void ScanOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  for (BlockArgument argument : region.getArguments())
    setName(argument, argument.getArgNumber() < getInputs().size() ? "input" : "carry");
}

// The spaces are upstream's.
void ScanOp::print(OpAsmPrinter &printer) {
  printer << "(" << getInputs() << ") inits (" << getInits() << ") dimension=" << getDimension() << " ";
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getDimensionAttrName(), getOperandSegmentSizeAttr(), getResultSegmentSizeAttr()});
  printer << " ";
  printer.printRegion(getBody());
  printer << " : ";
  printer.printFunctionalType(*this);
}

ParseResult ScanOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> inputs, inits;
  int64_t dimension = 0;
  FunctionType type;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseOperandList(inputs, OpAsmParser::Delimiter::Paren) || parser.parseKeyword("inits") ||
      parser.parseOperandList(inits, OpAsmParser::Delimiter::Paren) || parser.parseKeyword("dimension") ||
      parser.parseEqual() || parser.parseInteger(dimension) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) || parser.parseRegion(*result.addRegion()) ||
      parser.parseColonType(type))
    return failure();
  size_t operands = inputs.size() + inits.size();
  if (type.getNumInputs() != operands)
    return parser.emitError(place) << "expected " << operands << " operand types, got "
                                   << type.getNumInputs();
  if (type.getNumResults() < inits.size())
    return parser.emitError(place) << "expected at least " << inits.size() << " result types, got "
                                   << type.getNumResults();
  Builder &builder = parser.getBuilder();
  auto segments = [&](size_t first, size_t second) {
    return builder.getDenseI32ArrayAttr({static_cast<int32_t>(first), static_cast<int32_t>(second)});
  };
  result.addAttribute(getDimensionAttrName(result.name), builder.getI64IntegerAttr(dimension));
  result.addAttribute(getOperandSegmentSizeAttr(), segments(inputs.size(), inits.size()));
  result.addAttribute(getResultSegmentSizeAttr(),
                      segments(type.getNumResults() - inits.size(), inits.size()));
  result.addTypes(type.getResults());
  llvm::append_range(inputs, inits);
  return parser.resolveOperands(inputs, type.getInputs(), place, result.operands);
}

} // namespace torchere::chlo
