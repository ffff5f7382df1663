// Registers the ops of the interpreter dialect.
#include "interpreter/instrumentation_dialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

#include "interpreter/instrumentation_dialect.cpp.inc"

#define GET_OP_CLASSES
#include "interpreter/instrumentation.cpp.inc"

namespace torchere::interpreter {

void InterpreterDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "interpreter/instrumentation.cpp.inc"
      >();
}

} // namespace torchere::interpreter
