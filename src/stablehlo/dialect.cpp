// Registers the dialect's ops, group by group, its types and its attributes.
#include "stablehlo/dialect.h"

using namespace mlir;

#include "stablehlo/dialect.cpp.inc"

namespace torchere::stablehlo {

// Each group's op list is instantiated in the group's own file.
#define STABLEHLO_OP_GROUP(Name) void add##Name##Ops(StableHLODialect &dialect);
#include "stablehlo/op_groups.inc"
#undef STABLEHLO_OP_GROUP

void StableHLODialect::initialize() {
  registerAttributes();
  registerTypes();
#define STABLEHLO_OP_GROUP(Name) add##Name##Ops(*this);
#include "stablehlo/op_groups.inc"
#undef STABLEHLO_OP_GROUP
}

Operation *StableHLODialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                                 Location location) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, location, elements);
}

} // namespace torchere::stablehlo
