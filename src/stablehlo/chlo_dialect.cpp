// Registers CHLO's ops, group by group, and its attributes, which are here.
#include "stablehlo/chlo_dialect.h"
#include "stablehlo/attribute_fields.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "stablehlo/chlo_dialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "stablehlo/chlo_attributes.cpp.inc"

namespace torchere::chlo {

// Each group's op list is instantiated in the group's own file.
void addBroadcastOps(CHLODialect &dialect);
void addElementwiseOps(CHLODialect &dialect);
void addTensorOps(CHLODialect &dialect);

void CHLODialect::initialize() {
  registerAttributes();
  addBroadcastOps(*this);
  addElementwiseOps(*this);
  addTensorOps(*this);
}

void CHLODialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "stablehlo/chlo_attributes.cpp.inc"
      >();
}

Operation *CHLODialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                            Location location) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, location, type, elements);
}

void RaggedDotDimensionNumbersAttr::print(AsmPrinter &printer) const {
  stablehlo::FieldPrinter fields(printer);
  fields.dims("lhs_batching_dimensions", getLhsBatchingDimensions());
  fields.dims("rhs_batching_dimensions", getRhsBatchingDimensions());
  fields.dims("lhs_contracting_dimensions", getLhsContractingDimensions());
  fields.dims("rhs_contracting_dimensions", getRhsContractingDimensions());
  fields.dims("lhs_ragged_dimensions", getLhsRaggedDimensions());
  fields.dims("rhs_group_dimensions", getRhsGroupDimensions());
}

Attribute RaggedDotDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  stablehlo::Dims lhsBatching, rhsBatching, lhsContracting, rhsContracting, lhsRagged, rhsGroup;
  stablehlo::FieldParser fields(parser);
  fields.dims("lhs_batching_dimensions", lhsBatching)
      .dims("rhs_batching_dimensions", rhsBatching)
      .dims("lhs_contracting_dimensions", lhsContracting)
      .dims("rhs_contracting_dimensions", rhsContracting)
      .dims("lhs_ragged_dimensions", lhsRagged)
      .dims("rhs_group_dimensions", rhsGroup);
  if (fields.parse())
    return {};
  return get(parser.getContext(), lhsBatching, rhsBatching, lhsContracting, rhsContracting, lhsRagged,
             rhsGroup);
}

} // namespace torchere::chlo
