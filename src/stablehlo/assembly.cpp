// Implements the custom directives of the ops' text.
#include "stablehlo/assembly.h"

#include "stablehlo/attribute_fields.h"

using namespace mlir;

namespace torchere::stablehlo {

ParseResult parseOperandsAndResultType(OpAsmParser &parser, ArrayRef<Type *> types) {
  Type type;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseType(type))
    return failure();
  auto function = dyn_cast<FunctionType>(type);
  if (!function) {
    for (Type *each : types)
      *each = type;
    return success();
  }
  if (function.getNumInputs() != types.size() - 1 || function.getNumResults() != 1)
    return parser.emitError(place) << "expected " << types.size() - 1 << " operand types and one result type";
  for (auto [each, input] : llvm::zip(types.drop_back(), function.getInputs()))
    *each = input;
  *types.back() = function.getResult(0);
  return success();
}

void printOperandsAndResultType(OpAsmPrinter &printer, ArrayRef<Type> types) {
  if (llvm::all_equal(types))
    printer << types.front();
  else
    printer.printFunctionalType(types.drop_back(), types.take_back());
}

ParseResult parseVariadicSameOperandsAndResultType(OpAsmParser &parser,
                                                   ArrayRef<OpAsmParser::UnresolvedOperand> operands,
                                                   SmallVectorImpl<Type> &types, Type &result) {
  types.resize(operands.size());
  SmallVector<Type *> all(llvm::make_pointer_range(types));
  all.push_back(&result);
  return parseOperandsAndResultType(parser, all);
}

void printVariadicSameOperandsAndResultType(OpAsmPrinter &printer, Operation *, OperandRange, TypeRange types,
                                            Type result) {
  SmallVector<Type> all(types);
  all.push_back(result);
  printOperandsAndResultType(printer, all);
}

ParseResult parseComplexOpType(OpAsmParser &parser, Type &lhs, Type &rhs, Type &result) {
  SMLoc place = parser.getCurrentLocation();
  if (parseOperandsAndResultType(parser, {&lhs, &rhs, &result}))
    return failure();
  if (lhs != result)
    return success(); // a function type
  auto tensor = dyn_cast<ShapedType>(result);
  auto complex = tensor ? dyn_cast<ComplexType>(tensor.getElementType()) : ComplexType();
  if (!complex)
    return parser.emitError(place) << "expected a tensor of complex elements, or a function type";
  lhs = rhs = tensor.clone(complex.getElementType());
  return success();
}

void printComplexOpType(OpAsmPrinter &printer, Operation *op, Type lhs, Type rhs, Type result) {
  auto part = cast<ShapedType>(result).clone(cast<ComplexType>(elementType(result)).getElementType());
  if (lhs == part && rhs == part)
    printer << result;
  else
    printer.printFunctionalType(op);
}

ParseResult parseTupleOpType(OpAsmParser &parser, SmallVectorImpl<Type> &types, Type &result) {
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseType(result))
    return failure();
  auto tuple = dyn_cast<TupleType>(result);
  if (!tuple)
    return parser.emitError(place) << "expected a tuple type";
  llvm::append_range(types, tuple.getTypes());
  return success();
}

void printTupleOpType(OpAsmPrinter &printer, Operation *, TypeRange, Type result) {
  printer << result;
}

ParseResult parsePairwiseOpType(OpAsmParser &parser, SmallVectorImpl<Type> &operands,
                                SmallVectorImpl<Type> &results) {
  if (parser.parseTypeList(operands))
    return failure();
  llvm::append_range(results, operands);
  return success();
}

void printPairwiseOpType(OpAsmPrinter &printer, Operation *, TypeRange operands, TypeRange) {
  llvm::interleaveComma(operands, printer);
}

ParseResult parseExponentMantissa(OpAsmParser &parser, IntegerAttr &exponent, IntegerAttr &mantissa) {
  StringRef word;
  SMLoc place = parser.getCurrentLocation();
  int32_t exponentBits = 0, mantissaBits = 0;
  if (parser.parseKeyword(&word))
    return failure();
  auto [first, second] = word.split('m');
  if (!first.consume_front("e") || first.getAsInteger(10, exponentBits) ||
      second.getAsInteger(10, mantissaBits))
    return parser.emitError(place) << "expected a format such as 'e5m10', got '" << word << "'";
  exponent = parser.getBuilder().getI32IntegerAttr(exponentBits);
  mantissa = parser.getBuilder().getI32IntegerAttr(mantissaBits);
  return success();
}

void printExponentMantissa(OpAsmPrinter &printer, Operation *, IntegerAttr exponent, IntegerAttr mantissa) {
  printer << "e" << exponent.getInt() << "m" << mantissa.getInt();
}

ParseResult parseSelectOpType(OpAsmParser &parser, Type &pred, Type &onTrue, Type &onFalse, Type &result) {
  SMLoc place = parser.getCurrentLocation();
  SmallVector<Type> types;
  if (parser.parseTypeList(types))
    return failure();
  if (types.size() == 2) {
    pred = types[0];
    onTrue = onFalse = result = types[1];
    return success();
  }
  auto function = types.size() == 1 ? dyn_cast<FunctionType>(types[0]) : FunctionType();
  if (!function || function.getNumInputs() != 3 || function.getNumResults() != 1)
    return parser.emitError(place)
           << "expected two types, or a function type of three operands and one result";
  pred = function.getInput(0);
  onTrue = function.getInput(1);
  onFalse = function.getInput(2);
  result = function.getResult(0);
  return success();
}

void printSelectOpType(OpAsmPrinter &printer, Operation *op, Type pred, Type onTrue, Type onFalse,
                       Type result) {
  if (onTrue == result && onFalse == result)
    printer << pred << ", " << result;
  else
    printer.printFunctionalType(op);
}

ParseResult parseVariadicOperandWithAttribute(OpAsmParser &parser,
                                              SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  OpAsmParser::UnresolvedOperand operand;
  OptionalParseResult parsed = parser.parseOptionalOperand(operand);
  if (!parsed.has_value()) {
    (void)parser.parseOptionalComma();
    return success();
  }
  while (parsed.has_value()) {
    if (failed(*parsed) || parser.parseComma())
      return failure();
    operands.push_back(operand);
    parsed = parser.parseOptionalOperand(operand);
  }
  return success();
}

void printVariadicOperandWithAttribute(OpAsmPrinter &printer, Operation *, OperandRange operands) {
  if (operands.empty()) // upstream prints a lone comma here, which it cannot parse
    return;
  printer.printOperands(operands);
  printer << ",";
}

ParseResult parseSliceRanges(OpAsmParser &parser, DenseI64ArrayAttr &start, DenseI64ArrayAttr &limit,
                             DenseI64ArrayAttr &strides) {
  SmallVector<int64_t> starts, limits, steps;
  auto parseRange = [&]() -> ParseResult {
    if (parser.parseInteger(starts.emplace_back()) || parser.parseColon() ||
        parser.parseInteger(limits.emplace_back()))
      return failure();
    steps.push_back(1);
    return parser.parseOptionalColon() ? success() : parser.parseInteger(steps.back());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRange))
    return failure();
  Builder &builder = parser.getBuilder();
  start = builder.getDenseI64ArrayAttr(starts);
  limit = builder.getDenseI64ArrayAttr(limits);
  strides = builder.getDenseI64ArrayAttr(steps);
  return success();
}

void printSliceRanges(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr start, DenseI64ArrayAttr limit,
                      DenseI64ArrayAttr strides) {
  printer << "[";
  llvm::interleaveComma(llvm::zip(start.asArrayRef(), limit.asArrayRef(), strides.asArrayRef()), printer,
                        [&](auto range) {
                          auto [first, last, step] = range;
                          printer << first << ":" << last;
                          if (step != 1)
                            printer << ":" << step;
                        });
  printer << "]";
}

namespace {

void printDims(AsmPrinter &printer, ArrayRef<int64_t> dims) {
  printer << "[";
  llvm::interleaveComma(dims, printer);
  printer << "]";
}

ParseResult parseDimsPair(AsmParser &parser, SmallVectorImpl<int64_t> &lhs, SmallVectorImpl<int64_t> &rhs) {
  return failure(parser.parseEqual() || parseDims(parser, lhs) || parser.parseKeyword("x") ||
                 parseDims(parser, rhs));
}

} // namespace

ParseResult parseDotDimensionNumbers(OpAsmParser &parser, DotDimensionNumbersAttr &numbers) {
  SmallVector<int64_t> lhsBatching, rhsBatching, lhsContracting, rhsContracting;
  if (succeeded(parser.parseOptionalKeyword("batching_dims")))
    if (parseDimsPair(parser, lhsBatching, rhsBatching) || parser.parseComma())
      return failure();
  if (parser.parseKeyword("contracting_dims") || parseDimsPair(parser, lhsContracting, rhsContracting))
    return failure();
  numbers = DotDimensionNumbersAttr::get(parser.getContext(), lhsBatching, rhsBatching, lhsContracting,
                                         rhsContracting);
  return success();
}

void printDotDimensionNumbers(OpAsmPrinter &printer, Operation *, DotDimensionNumbersAttr numbers) {
  if (!numbers.getLhsBatchingDimensions().empty() || !numbers.getRhsBatchingDimensions().empty()) {
    printer << "batching_dims = ";
    printDims(printer, numbers.getLhsBatchingDimensions());
    printer << " x ";
    printDims(printer, numbers.getRhsBatchingDimensions());
    printer << ", ";
  }
  printer << "contracting_dims = ";
  printDims(printer, numbers.getLhsContractingDimensions());
  printer << " x ";
  printDims(printer, numbers.getRhsContractingDimensions());
}

/// ` = [DEFAULT, HIGHEST]`.
static ParseResult parsePrecisions(OpAsmParser &parser, ArrayAttr &precision) {
  SmallVector<Attribute> values;
  auto parsePrecision = [&]() -> ParseResult {
    StringRef word;
    SMLoc place = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return failure();
    std::optional<Precision> value = symbolizePrecision(word);
    if (!value)
      return parser.emitError(place) << "unknown precision '" << word << "'";
    values.push_back(PrecisionAttr::get(parser.getContext(), *value));
    return success();
  };
  if (parser.parseEqual() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parsePrecision))
    return failure();
  precision = parser.getBuilder().getArrayAttr(values);
  return success();
}

ParseResult parsePrecisionConfig(OpAsmParser &parser, ArrayAttr &precision) {
  if (parser.parseOptionalComma())
    return success();
  return failure(parser.parseKeyword("precision") || parsePrecisions(parser, precision));
}

void printPrecisionConfig(OpAsmPrinter &printer, Operation *, ArrayAttr precision) {
  if (!precision)
    return;
  printer << ", precision = [";
  llvm::interleaveComma(precision.getAsRange<PrecisionAttr>(), printer,
                        [&](PrecisionAttr value) { printer << stringifyPrecision(value.getValue()); });
  printer << "]";
}

ParseResult parsePrecisionConfigAndAlgorithm(OpAsmParser &parser, ArrayAttr &precision,
                                             DotAlgorithmAttr &algorithm) {
  auto parseAlgorithm = [&]() -> ParseResult {
    return failure(parser.parseKeyword("algorithm") || parser.parseEqual() ||
                   parser.parseCustomAttributeWithFallback(algorithm));
  };
  if (parser.parseOptionalComma())
    return success();
  if (parser.parseOptionalKeyword("precision"))
    return parseAlgorithm();
  if (parsePrecisions(parser, precision))
    return failure();
  return parser.parseOptionalComma() ? success() : parseAlgorithm();
}

void printPrecisionConfigAndAlgorithm(OpAsmPrinter &printer, Operation *op, ArrayAttr precision,
                                      DotAlgorithmAttr algorithm) {
  printPrecisionConfig(printer, op, precision);
  if (algorithm) {
    printer << ", algorithm = ";
    printer.printStrippedAttrOrType(algorithm);
  }
}

namespace {

/// `[[0, 1], [2, 3]]` as a tensor of rows of two; no rows is a tensor<0x2xi64>.
ParseResult parsePadding(OpAsmParser &parser, DenseIntElementsAttr &padding) {
  SmallVector<int64_t> values;
  auto parseRow = [&]() -> ParseResult {
    return failure(parser.parseLSquare() || parser.parseInteger(values.emplace_back()) ||
                   parser.parseComma() || parser.parseInteger(values.emplace_back()) ||
                   parser.parseRSquare());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRow))
    return failure();
  auto type =
      RankedTensorType::get({static_cast<int64_t>(values.size() / 2), 2}, parser.getBuilder().getI64Type());
  padding = DenseIntElementsAttr::get(type, values);
  return success();
}

void printPadding(OpAsmPrinter &printer, DenseIntElementsAttr padding) {
  SmallVector<int64_t> values(padding.getValues<int64_t>());
  printer << "[";
  for (size_t row = 0; row + 1 < values.size(); row += 2)
    printer << (row == 0 ? "[" : ", [") << values[row] << ", " << values[row + 1] << "]";
  printer << "]";
}

ParseResult parseArray(OpAsmParser &parser, DenseI64ArrayAttr &array) {
  SmallVector<int64_t> values;
  if (parseDims(parser, values))
    return failure();
  array = parser.getBuilder().getDenseI64ArrayAttr(values);
  return success();
}

/// `[true, false]`; also `[1, 0]`, the older form.
ParseResult parseReversal(OpAsmParser &parser, DenseBoolArrayAttr &reversal) {
  SmallVector<bool> values;
  auto parseFlag = [&]() -> ParseResult {
    int64_t number = 0;
    OptionalParseResult isNumber = parser.parseOptionalInteger(number);
    if (isNumber.has_value()) {
      values.push_back(number != 0);
      return *isNumber;
    }
    StringRef word;
    SMLoc place = parser.getCurrentLocation();
    if (parser.parseOptionalKeyword(&word, {"true", "false"}))
      return parser.emitError(place) << "expected 'true' or 'false'";
    values.push_back(word == "true");
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseFlag))
    return failure();
  reversal = parser.getBuilder().getDenseBoolArrayAttr(values);
  return success();
}

} // namespace

ParseResult parseWindowAttributes(OpAsmParser &parser, DenseI64ArrayAttr &strides,
                                  DenseIntElementsAttr &padding, DenseI64ArrayAttr &lhsDilation,
                                  DenseI64ArrayAttr &rhsDilation, DenseBoolArrayAttr &reversal) {
  static const StringRef names[] = {"stride", "pad", "lhs_dilate", "rhs_dilate", "reverse"};
  StringRef name;
  if (parser.parseOptionalKeyword(&name, names))
    return success();
  llvm::SmallDenseSet<StringRef> seen;
  while (true) {
    SMLoc place = parser.getCurrentLocation();
    if (!seen.insert(name).second)
      return parser.emitError(place) << "window attribute '" << name << "' given twice";
    if (parser.parseEqual())
      return failure();
    ParseResult parsed = name == "stride"       ? parseArray(parser, strides)
                         : name == "lhs_dilate" ? parseArray(parser, lhsDilation)
                         : name == "rhs_dilate" ? parseArray(parser, rhsDilation)
                         : name == "pad"        ? parsePadding(parser, padding)
                                                : parseReversal(parser, reversal);
    if (parsed)
      return failure();
    if (parser.parseOptionalComma())
      return success();
    place = parser.getCurrentLocation();
    if (parser.parseOptionalKeyword(&name, names))
      return parser.emitError(place) << "expected 'stride', 'pad', 'lhs_dilate', 'rhs_dilate' or 'reverse'";
  }
}

void printWindowAttributes(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr strides,
                           DenseIntElementsAttr padding, DenseI64ArrayAttr lhsDilation,
                           DenseI64ArrayAttr rhsDilation, DenseBoolArrayAttr reversal) {
  StringRef separator = "";
  auto start = [&](StringRef name) {
    printer << separator << name << " = ";
    separator = ", ";
  };
  auto printArray = [&](StringRef name, DenseI64ArrayAttr array) {
    if (!array)
      return;
    start(name);
    printDims(printer, array.asArrayRef());
  };
  printArray("stride", strides);
  if (padding) {
    start("pad");
    printPadding(printer, padding);
  }
  printArray("lhs_dilate", lhsDilation);
  printArray("rhs_dilate", rhsDilation);
  if (reversal) {
    start("reverse");
    printer << "[";
    llvm::interleaveComma(reversal.asArrayRef(), printer,
                          [&](bool flag) { printer << (flag ? "true" : "false"); });
    printer << "]";
  }
}

ParseResult parseCustomCallTarget(OpAsmParser &parser, StringAttr &target) {
  return parser.parseSymbolName(target);
}

void printCustomCallTarget(OpAsmPrinter &printer, Operation *, StringAttr target) {
  printer.printSymbolName(target);
}

} // namespace torchere::stablehlo
