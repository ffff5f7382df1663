// Registers the dialect's ops, group by group, and its attributes.
#include "stablehlo/dialect.h"

using namespace mlir;

#include "stablehlo/dialect.cpp.inc"

namespace torchere::stablehlo {

// Each group's op list is instantiated in the group's own file.
void addBinaryOps(StableHLODialect &dialect);
void addControlOps(StableHLODialect &dialect);
void addDynamismOps(StableHLODialect &dialect);
void addIndexingOps(StableHLODialect &dialect);
void addLinearAlgebraOps(StableHLODialect &dialect);
void addReductionOps(StableHLODialect &dialect);
void addShapeOps(StableHLODialect &dialect);
void addUnaryOps(StableHLODialect &dialect);

void StableHLODialect::initialize() {
  registerAttributes();
  addBinaryOps(*this);
  addControlOps(*this);
  addDynamismOps(*this);
  addIndexingOps(*this);
  addLinearAlgebraOps(*this);
  addReductionOps(*this);
  addShapeOps(*this);
  addUnaryOps(*this);
}

Operation *StableHLODialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                                 Location location) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, location, elements);
}

} // namespace torchere::stablehlo
