// Locations of the module's ops: the user's source line and the path of the module that ran it.
#pragma once

#include "exporter/exporter.h"
#include "program/program.h"

#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"

namespace torchere::exporter {

/// A NameLoc of the module path ("encoder.layer.0") around the FileLineColLoc of the user's frame; either may
/// be absent.
mlir::Location locationOf(const program::Program &program, const program::Node &node,
                          mlir::MLIRContext *context);

/// A NameLoc of JSON with everything known about a node: name, op, module_stack [[path, class], ...],
/// stack_trace, and what torch says of it (Options::torchMetadata). A node that torch has not made has what
/// torch says of the one with its stack trace.
mlir::Location metadataLocation(const program::Program &program, const program::Node &node,
                                const Options &options, mlir::MLIRContext *context);

/// The location with the op's name, which errors about sizes that depend on data tell.
mlir::Location namedAfterOp(mlir::Location location, const program::Node &node);

} // namespace torchere::exporter
