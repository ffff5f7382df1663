// Text and checks of the attributes, and their registration.
#include "stablehlo/attribute_fields.h"
#include "stablehlo/dialect.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "stablehlo/enums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "stablehlo/attributes.cpp.inc"

namespace torchere::stablehlo {

static Attribute parseTypeExtensions(AsmParser &parser);

void StableHLODialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "stablehlo/attributes.cpp.inc"
      >();
}

Attribute StableHLODialect::parseAttribute(DialectAsmParser &parser, Type type) const {
  StringRef mnemonic;
  Attribute attribute;
  SMLoc place = parser.getCurrentLocation();
  OptionalParseResult parsed = generatedAttributeParser(parser, &mnemonic, type, attribute);
  if (parsed.has_value())
    return attribute;
  if (mnemonic == "type_extensions")
    return parseTypeExtensions(parser);
  parser.emitError(place) << "unknown attribute '" << mnemonic << "' in dialect 'stablehlo'";
  return {};
}

void StableHLODialect::printAttribute(Attribute attribute, DialectAsmPrinter &printer) const {
  (void)generatedAttributePrinter(attribute, printer);
}

void DotDimensionNumbersAttr::print(AsmPrinter &printer) const {
  FieldPrinter fields(printer);
  fields.dims("lhs_batching_dimensions", getLhsBatchingDimensions());
  fields.dims("rhs_batching_dimensions", getRhsBatchingDimensions());
  fields.dims("lhs_contracting_dimensions", getLhsContractingDimensions());
  fields.dims("rhs_contracting_dimensions", getRhsContractingDimensions());
}

Attribute DotDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  Dims lhsBatching, rhsBatching, lhsContracting, rhsContracting;
  FieldParser fields(parser);
  fields.dims("lhs_batching_dimensions", lhsBatching)
      .dims("rhs_batching_dimensions", rhsBatching)
      .dims("lhs_contracting_dimensions", lhsContracting)
      .dims("rhs_contracting_dimensions", rhsContracting);
  if (fields.parse())
    return {};
  return get(parser.getContext(), lhsBatching, rhsBatching, lhsContracting, rhsContracting);
}

void DotAlgorithmAttr::print(AsmPrinter &printer) const {
  FieldPrinter fields(printer);
  fields.start("lhs_precision_type") << getLhsPrecisionType();
  fields.start("rhs_precision_type") << getRhsPrecisionType();
  fields.start("accumulation_type") << getAccumulationType();
  fields.integer("lhs_component_count", getLhsComponentCount());
  fields.integer("rhs_component_count", getRhsComponentCount());
  fields.integer("num_primitive_operations", getNumPrimitiveOperations());
  fields.start("allow_imprecise_accumulation") << (getAllowImpreciseAccumulation() ? "true" : "false");
}

Attribute DotAlgorithmAttr::parse(AsmParser &parser, Type) {
  Type lhs, rhs, accumulation;
  int64_t lhsComponents = 0, rhsComponents = 0, operations = 0;
  bool imprecise = false;
  auto typeField = [&](Type &type) { return [&]() -> ParseResult { return parser.parseType(type); }; };
  FieldParser fields(parser);
  fields.field("lhs_precision_type", typeField(lhs))
      .field("rhs_precision_type", typeField(rhs))
      .field("accumulation_type", typeField(accumulation))
      .integer("lhs_component_count", lhsComponents)
      .integer("rhs_component_count", rhsComponents)
      .integer("num_primitive_operations", operations)
      .field("allow_imprecise_accumulation", [&]() -> ParseResult {
        StringRef word;
        SMLoc place = parser.getCurrentLocation();
        if (parser.parseOptionalKeyword(&word, {"true", "false"}))
          return parser.emitError(place) << "expected 'true' or 'false'";
        imprecise = word == "true";
        return success();
      });
  SMLoc place = parser.getCurrentLocation();
  if (fields.parseAll())
    return {};
  return parser.getChecked<DotAlgorithmAttr>(place, parser.getContext(), lhs, rhs, accumulation,
                                             lhsComponents, rhsComponents, operations, imprecise);
}

/// Whether some hardware is known to support it. Names such as bf16_3x and tf32_3x count primitive
/// operations.
static bool isKnownAlgorithm(Type lhs, Type rhs, Type accumulation, int64_t operations, bool imprecise) {
  auto isFloat8 = [](Type type) {
    return isFloat(type) && type.getIntOrFloatBitWidth() == 8 && !isa<Float8E8M0FNUType>(type);
  };
  if (isFloat8(lhs) && isFloat8(rhs))
    return accumulation.isF32() && operations == 1;
  if (lhs != rhs || imprecise)
    return false;
  if (lhs.isBF16() && accumulation.isF32())
    return operations == 1 || operations == 3 || operations == 6 || operations == 9;
  if (lhs.isTF32())
    return accumulation.isF32() && (operations == 1 || operations == 3);
  if (lhs.isF16() && accumulation.isF32())
    return operations == 1;
  bool isExact = lhs.isBF16() || lhs.isF16() || lhs.isF32() || lhs.isF64();
  return isExact && lhs == accumulation && operations == 1;
}

// (C22) to (C24) are those of dot_general.
LogicalResult DotAlgorithmAttr::verify(function_ref<InFlightDiagnostic()> emitError, Type lhsPrecisionType,
                                       Type rhsPrecisionType, Type accumulationType,
                                       int64_t lhsComponentCount, int64_t rhsComponentCount,
                                       int64_t numPrimitiveOperations, bool allowImpreciseAccumulation) {
  const std::tuple<StringRef, StringRef, int64_t> counts[] = {
      {"C22", "lhs_component_count", lhsComponentCount},
      {"C23", "rhs_component_count", rhsComponentCount},
      {"C24", "num_primitive_operations", numPrimitiveOperations}};
  for (auto [constraint, name, count] : counts)
    if (count < 1)
      return emitError() << "dot algorithm (" << constraint << ") " << name << " too small: got " << count
                         << ", expected at least 1";
  if (lhsComponentCount == 1 && rhsComponentCount == 1 &&
      isKnownAlgorithm(lhsPrecisionType, rhsPrecisionType, accumulationType, numPrimitiveOperations,
                       allowImpreciseAccumulation))
    return success();
  return emitError() << "dot algorithm known to no hardware: " << lhsPrecisionType << " by "
                     << rhsPrecisionType << " in " << lhsComponentCount << " and " << rhsComponentCount
                     << " components and " << numPrimitiveOperations
                     << " primitive operations, accumulated in " << accumulationType
                     << (allowImpreciseAccumulation ? " or less" : "");
}

void GatherDimensionNumbersAttr::print(AsmPrinter &printer) const {
  FieldPrinter fields(printer);
  fields.dims("offset_dims", getOffsetDims());
  fields.dims("collapsed_slice_dims", getCollapsedSliceDims());
  fields.dims("operand_batching_dims", getOperandBatchingDims());
  fields.dims("start_indices_batching_dims", getStartIndicesBatchingDims());
  fields.dims("start_index_map", getStartIndexMap());
  if (getIndexVectorDim() != 0)
    fields.integer("index_vector_dim", getIndexVectorDim());
}

Attribute GatherDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  Dims offset, collapsed, operandBatching, indicesBatching, indexMap;
  int64_t indexVector = 0;
  FieldParser fields(parser);
  fields.dims("offset_dims", offset)
      .dims("collapsed_slice_dims", collapsed)
      .dims("operand_batching_dims", operandBatching)
      .dims("start_indices_batching_dims", indicesBatching)
      .dims("start_index_map", indexMap)
      .integer("index_vector_dim", indexVector);
  if (fields.parse())
    return {};
  return get(parser.getContext(), offset, collapsed, operandBatching, indicesBatching, indexMap, indexVector);
}

void ScatterDimensionNumbersAttr::print(AsmPrinter &printer) const {
  FieldPrinter fields(printer);
  fields.dims("update_window_dims", getUpdateWindowDims());
  fields.dims("inserted_window_dims", getInsertedWindowDims());
  fields.dims("input_batching_dims", getInputBatchingDims());
  fields.dims("scatter_indices_batching_dims", getScatterIndicesBatchingDims());
  fields.dims("scatter_dims_to_operand_dims", getScatterDimsToOperandDims());
  if (getIndexVectorDim() != 0)
    fields.integer("index_vector_dim", getIndexVectorDim());
}

Attribute ScatterDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  Dims updateWindow, insertedWindow, inputBatching, indicesBatching, toOperand;
  int64_t indexVector = 0;
  FieldParser fields(parser);
  fields.dims("update_window_dims", updateWindow)
      .dims("inserted_window_dims", insertedWindow)
      .dims("input_batching_dims", inputBatching)
      .dims("scatter_indices_batching_dims", indicesBatching)
      .dims("scatter_dims_to_operand_dims", toOperand)
      .integer("index_vector_dim", indexVector);
  if (fields.parse())
    return {};
  return get(parser.getContext(), updateWindow, insertedWindow, inputBatching, indicesBatching, toOperand,
             indexVector);
}

void OutputOperandAliasAttr::print(AsmPrinter &printer) const {
  FieldPrinter fields(printer);
  fields.dims("output_tuple_indices", getOutputTupleIndices(), /*evenIfEmpty=*/true);
  fields.integer("operand_index", getOperandIndex());
  fields.dims("operand_tuple_indices", getOperandTupleIndices(), /*evenIfEmpty=*/true);
}

Attribute OutputOperandAliasAttr::parse(AsmParser &parser, Type) {
  Dims output, operand;
  int64_t index = 0;
  FieldParser fields(parser);
  fields.dims("output_tuple_indices", output)
      .integer("operand_index", index)
      .dims("operand_tuple_indices", operand);
  if (fields.parseAll())
    return {};
  return get(parser.getContext(), output, index, operand);
}

void ResultAccuracyAttr::print(AsmPrinter &printer) const {
  FieldPrinter fields(printer);
  if (!getAtol().isZero())
    fields.number("atol", getAtol());
  if (!getRtol().isZero())
    fields.number("rtol", getRtol());
  if (getUlps() != 0)
    fields.integer("ulps", getUlps());
  fields.start("mode").printAttribute(getMode());
}

Attribute ResultAccuracyAttr::parse(AsmParser &parser, Type) {
  double atol = 0, rtol = 0;
  int64_t ulps = 0;
  ResultAccuracyModeAttr mode;
  FieldParser fields(parser);
  fields.field("atol", [&] { return parser.parseFloat(atol); })
      .field("rtol", [&] { return parser.parseFloat(rtol); })
      .integer("ulps", ulps)
      .field("mode", [&]() -> ParseResult { return parser.parseAttribute(mode); });
  SMLoc place = parser.getCurrentLocation();
  if (fields.parseWith({"mode"}))
    return {};
  return parser.getChecked<ResultAccuracyAttr>(place, parser.getContext(), APFloat(atol), APFloat(rtol), ulps,
                                               mode);
}

LogicalResult ResultAccuracyAttr::verify(function_ref<InFlightDiagnostic()> emitError, APFloat atol,
                                         APFloat rtol, int64_t ulps, ResultAccuracyModeAttr mode) {
  bool hasTolerance = !atol.isZero() || !rtol.isZero() || ulps != 0;
  if (hasTolerance && mode.getValue() != ResultAccuracyMode::TOLERANCE)
    return emitError() << "result accuracy mode " << stringifyEnum(mode.getValue())
                       << " takes no atol, rtol or ulps";
  if (atol.isNegative() || rtol.isNegative() || ulps < 0)
    return emitError() << "result accuracy's atol, rtol and ulps must not be negative";
  return success();
}

//===- bounds -------------------------------------------------------------===//

/// A bound, or `?`.
static ParseResult parseBound(AsmParser &parser, Dims &bounds) {
  if (succeeded(parser.parseOptionalQuestion())) {
    bounds.push_back(ShapedType::kDynamic);
    return success();
  }
  return parser.parseInteger(bounds.emplace_back());
}

void TypeExtensionsAttr::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleaveComma(getBounds(), printer, [&](int64_t bound) {
    if (ShapedType::isDynamic(bound))
      printer << "?";
    else
      printer << bound;
  });
  printer << ">";
}

Attribute TypeExtensionsAttr::parse(AsmParser &parser, Type) {
  Dims bounds;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     [&] { return parseBound(parser, bounds); }))
    return {};
  return get(parser.getContext(), bounds);
}

/// `<bounds = [4, ?]>`: the older form of `#stablehlo.bounds<4, ?>`, as #stablehlo.type_extensions.
static Attribute parseTypeExtensions(AsmParser &parser) {
  Dims bounds;
  FieldParser fields(parser);
  fields.field("bounds", [&] {
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                          [&] { return parseBound(parser, bounds); });
  });
  if (fields.parseAll())
    return {};
  return TypeExtensionsAttr::get(parser.getContext(), bounds);
}

LogicalResult TypeExtensionsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                                 function_ref<InFlightDiagnostic()> emitError) const {
  if (getBounds().size() != shape.size())
    return emitError() << "bounds of " << getBounds().size() << " dimensions in a tensor of rank "
                       << shape.size();
  for (auto [index, size, bound] : llvm::enumerate(shape, getBounds()))
    if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(bound))
      return emitError() << "dimension " << index << " has the size " << size
                         << ", so it takes no bound: got " << bound;
  return success();
}

namespace {

/// The dimensions of one tensor of a convolution: `[b, 0, 1, f]`, by the letters of its batch-like and
/// feature-like dimension.
void printConvolutionTensor(AsmPrinter &printer, char firstName, int64_t first, char secondName,
                            int64_t second, ArrayRef<int64_t> spatial) {
  // A dimension that has no role, which the verifier refuses, prints as `?`.
  int64_t rank = spatial.size() + 2;
  printer << "[";
  for (int64_t dimension = 0; dimension < rank; ++dimension) {
    if (dimension != 0)
      printer << ", ";
    auto *position = llvm::find(spatial, dimension);
    if (dimension == first)
      printer << firstName;
    else if (dimension == second)
      printer << secondName;
    else if (position != spatial.end())
      printer << position - spatial.begin();
    else
      printer << "?";
  }
  printer << "]";
}

ParseResult parseConvolutionTensor(AsmParser &parser, StringRef firstName, int64_t &first,
                                   StringRef secondName, int64_t &second, Dims &spatial) {
  first = second = -1;
  int64_t dimension = 0;
  llvm::SmallDenseMap<int64_t, int64_t> places;
  SMLoc start = parser.getCurrentLocation();
  auto parseRole = [&]() -> ParseResult {
    int64_t number = 0;
    SMLoc place = parser.getCurrentLocation();
    OptionalParseResult isNumber = parser.parseOptionalInteger(number);
    if (isNumber.has_value()) {
      if (failed(*isNumber))
        return failure();
      if (!places.try_emplace(number, dimension++).second)
        return parser.emitError(place) << "spatial dimension " << number << " given twice";
      return success();
    }
    StringRef word;
    if (parser.parseKeyword(&word))
      return failure();
    int64_t *role = word == firstName ? &first : word == secondName ? &second : nullptr;
    if (!role)
      return parser.emitError(place) << "expected '" << firstName << "', '" << secondName
                                     << "' or a spatial dimension, got '" << word << "'";
    if (*role != -1)
      return parser.emitError(place) << "dimension '" << word << "' given twice";
    *role = dimension++;
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRole))
    return failure();
  if (first == -1 || second == -1)
    return parser.emitError(start) << "missing dimension '" << (first == -1 ? firstName : secondName) << "'";
  for (int64_t number = 0; number < static_cast<int64_t>(places.size()); ++number) {
    auto found = places.find(number);
    if (found == places.end())
      return parser.emitError(start) << "missing spatial dimension " << number;
    spatial.push_back(found->second);
  }
  return success();
}

} // namespace

/// The text between `#stablehlo.conv<` and `>`, which is also the op's `dim_numbers`.
void printConvolutionDimensions(AsmPrinter &printer, ConvDimensionNumbersAttr numbers) {
  printConvolutionTensor(printer, 'b', numbers.getInputBatchDimension(), 'f',
                         numbers.getInputFeatureDimension(), numbers.getInputSpatialDimensions());
  printer << "x";
  printConvolutionTensor(printer, 'i', numbers.getKernelInputFeatureDimension(), 'o',
                         numbers.getKernelOutputFeatureDimension(), numbers.getKernelSpatialDimensions());
  printer << "->";
  printConvolutionTensor(printer, 'b', numbers.getOutputBatchDimension(), 'f',
                         numbers.getOutputFeatureDimension(), numbers.getOutputSpatialDimensions());
}

ParseResult parseConvolutionDimensions(AsmParser &parser, ConvDimensionNumbersAttr &numbers) {
  int64_t inputBatch, inputFeature, kernelInput, kernelOutput, outputBatch, outputFeature;
  Dims inputSpatial, kernelSpatial, outputSpatial;
  if (parseConvolutionTensor(parser, "b", inputBatch, "f", inputFeature, inputSpatial) ||
      parser.parseKeyword("x") ||
      parseConvolutionTensor(parser, "i", kernelInput, "o", kernelOutput, kernelSpatial) ||
      parser.parseArrow() ||
      parseConvolutionTensor(parser, "b", outputBatch, "f", outputFeature, outputSpatial))
    return failure();
  numbers =
      ConvDimensionNumbersAttr::get(parser.getContext(), inputBatch, inputFeature, inputSpatial, kernelInput,
                                    kernelOutput, kernelSpatial, outputBatch, outputFeature, outputSpatial);
  return success();
}

void ConvDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printConvolutionDimensions(printer, *this);
  printer << ">";
}

/// The fields by their names, behind `<raw`; what is not given is 0 or empty.
static ParseResult parseRawConvolutionDimensions(AsmParser &parser, ConvDimensionNumbersAttr &numbers) {
  int64_t inputBatch = 0, inputFeature = 0, kernelInput = 0, kernelOutput = 0, outputBatch = 0,
          outputFeature = 0;
  Dims inputSpatial, kernelSpatial, outputSpatial;
  FieldParser fields(parser);
  fields.integer("input_batch_dimension", inputBatch)
      .integer("input_feature_dimension", inputFeature)
      .dims("input_spatial_dimensions", inputSpatial)
      .integer("kernel_input_feature_dimension", kernelInput)
      .integer("kernel_output_feature_dimension", kernelOutput)
      .dims("kernel_spatial_dimensions", kernelSpatial)
      .integer("output_batch_dimension", outputBatch)
      .integer("output_feature_dimension", outputFeature)
      .dims("output_spatial_dimensions", outputSpatial);
  if (fields.parse(AsmParser::Delimiter::None))
    return failure();
  numbers =
      ConvDimensionNumbersAttr::get(parser.getContext(), inputBatch, inputFeature, inputSpatial, kernelInput,
                                    kernelOutput, kernelSpatial, outputBatch, outputFeature, outputSpatial);
  return success();
}

Attribute ConvDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  ConvDimensionNumbersAttr numbers;
  if (parser.parseLess())
    return {};
  if (succeeded(parser.parseOptionalKeyword("raw")))
    return parseRawConvolutionDimensions(parser, numbers) || parser.parseGreater() ? Attribute() : numbers;
  if (parseConvolutionDimensions(parser, numbers) || parser.parseGreater())
    return {};
  return numbers;
}

} // namespace torchere::stablehlo
