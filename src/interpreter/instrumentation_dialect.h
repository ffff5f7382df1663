// The interpreter dialect, whose ops print and save values, and run programs in parallel.
#pragma once

#include "stablehlo/element_types.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"

#include "interpreter/instrumentation_dialect.h.inc"

#define GET_OP_CLASSES
#include "interpreter/instrumentation.h.inc"
