// Registers the ops of the check dialect.
#include "interpreter/check_dialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

#include "interpreter/check_dialect.cpp.inc"

#define GET_OP_CLASSES
#include "interpreter/check.cpp.inc"

namespace torchere::interpreter {

void CheckDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "interpreter/check.cpp.inc"
      >();
}

} // namespace torchere::interpreter
