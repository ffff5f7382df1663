// Control flow and calls: inference, verifiers and text. The verifier of custom_call is in custom_call.cpp.
#include "stablehlo/assembly.h"
#include "stablehlo/constraint.h"
#include "stablehlo/dialect.h"
#include "stablehlo/region.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/Regex.h"

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

//===- if, case -----------------------------------------------------------===//

LogicalResult IfOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                     SmallVectorImpl<Type> &types) {
  return inferBranches(Reporter(location, getOperationName()), "C1", "C2", adaptor.getRegions(), types);
}

LogicalResult CaseOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  Reporter reporter(location, getOperationName());
  if (adaptor.getBranches().empty())
    return reporter.violation("C1", "no branches: expected at least one");
  return inferBranches(reporter, "C2", "C3", adaptor.getBranches(), types);
}

//===- composite ----------------------------------------------------------===//

LogicalResult CompositeOp::verify() {
  // Names and namespaces as in upstream: letters, digits, `_`, and `$` after the first dot.
  if (!llvm::Regex("^[a-zA-Z][a-zA-Z0-9_]*([.][a-zA-Z0-9_$]+)+$").match(getName()))
    return violation(*this, "C1", "name: got \"", getName(),
                     "\", expected a name in a namespace, such as \"my_namespace.my_op\"");
  return success();
}

/// The types of the composite's operands or results are those of its decomposition.
static LogicalResult verifyDecomposed(const Reporter &reporter, StringRef constraint, StringRef what,
                                      TypeRange got, ArrayRef<Type> expected) {
  if (got.size() != expected.size())
    return reporter.violation(constraint, "number of ", what, ": got ", got.size(),
                              ", the decomposition has ", expected.size());
  for (auto [index, types] : llvm::enumerate(llvm::zip(got, expected)))
    if (std::get<0>(types) != std::get<1>(types))
      return reporter.violation(constraint, "type ", index, " of the ", what, ": got ", std::get<0>(types),
                                ", the decomposition has ", std::get<1>(types));
  return success();
}

LogicalResult CompositeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Reporter reporter(*this);
  auto function = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this, getDecompositionAttr());
  if (!function)
    return reporter.violation("C2", "decomposition: there is no function ", getDecompositionAttr());
  return failure(
      failed(verifyDecomposed(reporter, "C3", "inputs", getOperandTypes(), function.getArgumentTypes())) ||
      failed(verifyDecomposed(reporter, "C4", "results", getResultTypes(), function.getResultTypes())));
}

} // namespace torchere::stablehlo
