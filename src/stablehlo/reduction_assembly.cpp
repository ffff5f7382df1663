// The text of reduce: with its body written out, or `applies stablehlo.add` when the body is that one op.
#include "stablehlo/dialect.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

namespace torchere::stablehlo {

namespace {

/// The op that alone is the body of a reduction of one input, `(a, b) -> op(a, b)`; null if the body is more.
Operation *soleOp(ReduceOp reduce) {
  Region &body = reduce.getBody();
  if (reduce.getInputs().size() != 1 || !body.hasOneBlock())
    return nullptr;
  Block &block = body.front();
  if (!llvm::hasNItems(block, 2) || block.getNumArguments() != 2)
    return nullptr;
  Operation &op = block.front();
  auto terminator = dyn_cast<ReturnOp>(block.back());
  bool isPlain = op.getName().getDialectNamespace() == "stablehlo" && op.hasTrait<OpTrait::IsCommutative>() &&
                 op.getNumOperands() == 2 && op.getNumResults() == 1 && op.getNumRegions() == 0 &&
                 op.getAttrs().empty();
  if (!isPlain || !terminator || terminator.getNumOperands() != 1)
    return nullptr;
  if (op.getOperand(0) != block.getArgument(0) || op.getOperand(1) != block.getArgument(1) ||
      terminator.getOperand(0) != op.getResult(0))
    return nullptr;
  // The short form has no place for types that differ from the input's. It drops locations.
  Type scalar = RankedTensorType::get({}, elementType(reduce.getInputs().front().getType()));
  bool isImplied = llvm::all_of(block.getArgumentTypes(), [&](Type type) { return type == scalar; });
  return isImplied && op.getResult(0).getType() == scalar ? &op : nullptr;
}

/// The body's arguments: each input's accumulator and value side by side.
void printReducer(OpAsmPrinter &printer, ReduceOp reduce) {
  Block &body = reduce.getBody().front();
  size_t count = reduce.getInputs().size();
  printer.printNewline();
  printer << " reducer";
  for (size_t i = 0; i < count; ++i) {
    if (i != 0)
      printer << " ";
    printer << "(";
    printer.printRegionArgument(body.getArgument(i));
    printer << ", ";
    printer.printRegionArgument(body.getArgument(count + i));
    printer << ")";
  }
  printer << "  ";
  printer.printRegion(reduce.getBody(), /*printEntryBlockArgs=*/false);
}

using Operand = OpAsmParser::UnresolvedOperand;

/// `(%input init: %init), ...`.
ParseResult parseInputs(OpAsmParser &parser, SmallVectorImpl<Operand> &operands) {
  SmallVector<Operand> initValues;
  auto parsePair = [&]() -> ParseResult {
    return failure(parser.parseLParen() || parser.parseOperand(operands.emplace_back()) ||
                   parser.parseKeyword("init") || parser.parseColon() ||
                   parser.parseOperand(initValues.emplace_back()) || parser.parseRParen());
  };
  // The comma-separated list has no delimiters of its own.
  if (parser.parseCommaSeparatedList(parsePair))
    return failure();
  llvm::append_range(operands, initValues);
  return success();
}

ParseResult parseReducer(OpAsmParser &parser, size_t count, Region &body) {
  if (parser.parseKeyword("reducer"))
    return failure();
  SmallVector<OpAsmParser::Argument> accumulators(count), values(count);
  for (size_t i = 0; i < count; ++i)
    if (parser.parseLParen() || parser.parseArgument(accumulators[i], /*allowType=*/true) ||
        parser.parseComma() || parser.parseArgument(values[i], /*allowType=*/true) ||
        parser.parseOptionalLocationSpecifier(values[i].sourceLoc) || parser.parseRParen())
      return failure();
  llvm::append_range(accumulators, values);
  return parser.parseRegion(body, accumulators);
}

} // namespace

void ReduceOp::print(OpAsmPrinter &printer) {
  size_t count = getInputs().size();
  printer << "(";
  for (size_t i = 0; i < count; ++i)
    printer << (i == 0 ? "" : "), (") << getInputs()[i] << " init: " << getInitValues()[i];
  printer << ")";
  Operation *sole = soleOp(*this);
  if (sole)
    printer << " applies " << sole->getName().getStringRef();
  printer << " across dimensions = [";
  llvm::interleaveComma(getDimensions(), printer);
  printer << "]";
  printer.printOptionalAttrDict((*this)->getAttrs(), {getDimensionsAttrName()});
  printer << " : ";
  printer.printFunctionalType(*this);
  if (!sole)
    printReducer(printer, *this);
}

ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<Operand> operands;
  SMLoc place = parser.getCurrentLocation();
  if (parseInputs(parser, operands))
    return failure();
  std::optional<OperationName> sole;
  if (succeeded(parser.parseOptionalKeyword("applies"))) {
    FailureOr<OperationName> name = parser.parseCustomOperationName();
    if (failed(name))
      return failure();
    sole = *name;
  }
  SmallVector<int64_t> dimensions;
  FunctionType type;
  if (parser.parseKeyword("across") || parser.parseKeyword("dimensions") || parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     [&] { return parser.parseInteger(dimensions.emplace_back()); }) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColon() || parser.parseType(type) ||
      parser.resolveOperands(operands, type.getInputs(), place, result.operands))
    return failure();
  Builder &builder = parser.getBuilder();
  result.addAttribute("dimensions", builder.getDenseI64ArrayAttr(dimensions));
  result.addTypes(type.getResults());
  Region *body = result.addRegion();
  if (!sole)
    return parseReducer(parser, operands.size() / 2, *body);
  if (operands.size() != 2)
    return parser.emitError(place) << "'applies' takes one input, got " << operands.size() / 2;
  if (!sole->isRegistered() || sole->getDialectNamespace() != "stablehlo" ||
      !sole->hasTrait<OpTrait::IsCommutative>())
    return parser.emitError(place) << "'applies' takes a commutative StableHLO op, got "
                                   << sole->getStringRef();
  Location location = result.location;
  Block &block = body->emplaceBlock();
  Type scalar = RankedTensorType::get({}, elementType(type.getInput(0)));
  block.addArguments({scalar, scalar}, {location, location});
  OpBuilder inner(parser.getContext()); // the region has no op yet that would know it
  inner.setInsertionPointToStart(&block);
  OperationState op(location, *sole, block.getArguments(), scalar);
  ReturnOp::create(inner, location, inner.create(op)->getResults());
  return success();
}

} // namespace torchere::stablehlo
