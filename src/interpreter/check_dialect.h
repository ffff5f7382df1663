// The check dialect, with which interpreted programs assert what they computed.
#pragma once

#include "stablehlo/element_types.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"

#include "interpreter/check_dialect.h.inc"

#define GET_OP_CLASSES
#include "interpreter/check.h.inc"
