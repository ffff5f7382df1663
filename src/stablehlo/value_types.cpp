// Registers the types of values that are not tensors.
#include "stablehlo/dialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#define GET_TYPEDEF_CLASSES
#include "stablehlo/value_types.cpp.inc"

namespace torchere::stablehlo {

void StableHLODialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "stablehlo/value_types.cpp.inc"
      >();
}

} // namespace torchere::stablehlo
