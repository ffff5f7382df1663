// Locations of the module's ops: the user's source line and the path of the module that ran it.
#include "exporter/location.h"

#include "program/stack_trace.h"

#include "mlir/IR/Builders.h"

#include <charconv>

namespace torchere::exporter {

mlir::Location locationOf(const program::Program &program, const program::Node &node,
                          mlir::MLIRContext *context) {
  mlir::Location location = mlir::UnknownLoc::get(context);
  if (auto frame = program::userFrame(program.stackTraces[node.stackTrace])) {
    unsigned line = 0;
    std::from_chars(frame->line.data(), frame->line.data() + frame->line.size(), line);
    location = mlir::FileLineColLoc::get(context, llvm::StringRef(frame->file), line, 0);
  }
  const auto &frames = program.moduleStacks[node.moduleStack];
  if (frames.empty() || frames.back().path.empty())
    return location;
  return mlir::NameLoc::get(mlir::StringAttr::get(context, frames.back().path), location);
}

} // namespace torchere::exporter
