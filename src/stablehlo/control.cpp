// Control flow and calls out of the program: inference, verifiers and text.
#include "stablehlo/assembly.h"
#include "stablehlo/constraint.h"
#include "stablehlo/dialect.h"
#include "stablehlo/region.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "stablehlo/control.cpp.inc"

namespace torchere::stablehlo {

void addControlOps(StableHLODialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "stablehlo/control.cpp.inc"
      >();
}

//===- while --------------------------------------------------------------===//

LogicalResult WhileOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getOperand().getTypes());
  return success();
}

LogicalResult WhileOp::verify() {
  Reporter reporter(*this);
  Type boolean = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  return failure(
      failed(verifyRegion(reporter, "C1", "cond", getCond(), getOperandTypes(), boolean)) ||
      failed(verifyRegion(reporter, "C2", "body", getBody(), getOperandTypes(), getOperandTypes())));
}

void WhileOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  for (BlockArgument argument : region.getArguments())
    setName(argument, "iterArg");
}

void WhileOp::print(OpAsmPrinter &printer) {
  printer << '(';
  llvm::interleaveComma(llvm::zip(getCond().getArguments(), getOperands()), printer, [&](auto pair) {
    printer.printOperand(std::get<0>(pair));
    printer << " = ";
    printer.printOperand(std::get<1>(pair));
  });
  printer << ")";
  if (getNumOperands() != 0) {
    printer << " : ";
    llvm::interleaveComma(getOperandTypes(), printer);
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer.printNewline();
  printer << "cond ";
  printer.printRegion(getCond(), /*printEntryBlockArgs=*/false);
  printer << " do ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

ParseResult WhileOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<OpAsmParser::Argument> arguments;
  SMLoc place = parser.getCurrentLocation();
  auto parsePair = [&]() -> ParseResult {
    return failure(parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parsePair))
    return failure();
  if (!operands.empty() && (parser.parseColon() || parser.parseTypeList(result.types)))
    return failure();
  if (parser.resolveOperands(operands, result.types, place, result.operands))
    return failure();
  for (auto [argument, type] : llvm::zip(arguments, result.types))
    argument.type = type;
  return failure(parser.parseOptionalAttrDictWithKeyword(result.attributes) || parser.parseKeyword("cond") ||
                 parser.parseRegion(*result.addRegion(), arguments) || parser.parseKeyword("do") ||
                 parser.parseRegion(*result.addRegion(), arguments));
}

//===- custom_call --------------------------------------------------------===//

void CustomCallOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  if (!getHasSideEffect())
    return;
  effects.emplace_back(MemoryEffects::Allocate::get());
  effects.emplace_back(MemoryEffects::Free::get());
  effects.emplace_back(MemoryEffects::Write::get());
  effects.emplace_back(MemoryEffects::Read::get());
}

/// One layout, a permutation of the dimensions, for each value.
static LogicalResult verifyLayouts(const Reporter &reporter, StringRef name, ArrayAttr layouts,
                                   TypeRange types) {
  if (failed(reporter.size("", name, layouts.size(), types.size())))
    return failure();
  for (auto [attribute, type] : llvm::zip(layouts, types)) {
    auto layout = dyn_cast<DenseIntElementsAttr>(attribute);
    if (!layout || !layout.getElementType().isIndex() || layout.getType().getRank() != 1)
      return reporter.violation("", name, " holds ", attribute, ", expected a vector of index");
    auto tensor = dyn_cast<RankedTensorType>(type);
    SmallVector<int64_t> order(
        llvm::map_range(layout.getValues<APInt>(), [](const APInt &value) { return value.getSExtValue(); }));
    int64_t rank = tensor ? tensor.getRank() : 0;
    if (failed(reporter.size("", name, order.size(), rank)) ||
        failed(reporter.inRange("", name, order, rank)) || failed(reporter.unique("", name, order)))
      return failure();
  }
  return success();
}

LogicalResult CustomCallOp::verify() {
  Reporter reporter(*this);
  if (getOperandLayouts().has_value() != getResultLayouts().has_value())
    return reporter.violation("", "operand_layouts and result_layouts: got one, expected both or neither");
  if (getOperandLayouts() &&
      (failed(verifyLayouts(reporter, "operand_layouts", *getOperandLayouts(), getOperandTypes())) ||
       failed(verifyLayouts(reporter, "result_layouts", *getResultLayouts(), getResultTypes()))))
    return failure();
  for (auto alias : getOutputOperandAliases().getAsRange<OutputOperandAliasAttr>())
    if (failed(reporter.inRange("", "operand_index of an output_operand_alias", alias.getOperandIndex(),
                                getNumOperands())))
      return failure();
  return success();
}

} // namespace torchere::stablehlo
