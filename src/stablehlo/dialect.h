// The StableHLO dialect: every op, type, attribute and enumeration in one header. Names follow the
// specification's ops (stablehlo.dot_general is DotGeneralOp, its attribute dot_dimension_numbers is
// getDotDimensionNumbers()).
#pragma once

#include "stablehlo/element_types.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "stablehlo/dialect.h.inc"

#include "stablehlo/enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "stablehlo/attributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "stablehlo/value_types.h.inc"

#include "stablehlo/op_classes.h.inc"
