// Locations of the module's ops: the user's source line and the path of the module that ran it.
#include "exporter/location.h"

#include "program/stack_trace.h"

#include "mlir/IR/Builders.h"

#include <nlohmann/json.hpp>

#include <charconv>

namespace torchere::exporter {

mlir::Location locationOf(const program::Program &program, const program::Node &node,
                          mlir::MLIRContext *context) {
  mlir::Location location = mlir::UnknownLoc::get(context);
  if (auto frame = program::userFrame(program.stackTraces[node.stackTrace()])) {
    unsigned line = 0;
    std::from_chars(frame->line.data(), frame->line.data() + frame->line.size(), line);
    location = mlir::FileLineColLoc::get(context, llvm::StringRef(frame->file), line, 0);
  }
  const auto &frames = program.moduleStacks[node.moduleStack()];
  if (frames.empty() || frames.back().path.empty())
    return location;
  return mlir::NameLoc::get(mlir::StringAttr::get(context, frames.back().path), location);
}

mlir::Location namedAfterOp(mlir::Location location, const program::Node &node) {
  auto name = mlir::StringAttr::get(location.getContext(), node.op());
  if (auto scope = mlir::dyn_cast<mlir::NameLoc>(location))
    return mlir::NameLoc::get(scope.getName(), mlir::NameLoc::get(name, scope.getChildLoc()));
  return mlir::NameLoc::get(name, location);
}

mlir::Location metadataLocation(const program::Program &program, const program::Node &node,
                                const Options &options, mlir::MLIRContext *context) {
  using Json = nlohmann::ordered_json;
  const std::string &trace = program.stackTraces[node.stackTrace()];
  Json stack = Json::array();
  for (const program::ModuleFrame &frame : program.moduleStacks[node.moduleStack()])
    stack.push_back({frame.path, frame.className});
  Json metadata = {{"name", std::string(node.name())},
                   {"op", node.op()},
                   {"module_stack", std::move(stack)},
                   {"stack_trace", trace}};
  auto known = options.torchMetadata.find(metadataKey(node.name(), trace));
  if (known == options.torchMetadata.end())
    known = options.torchMetadata.find(metadataKey("", trace));
  if (known != options.torchMetadata.end())
    metadata.update(Json::parse(known->second, nullptr, /*allow_exceptions=*/false));
  // Source text may hold any bytes; invalid UTF-8 is replaced.
  std::string text = metadata.dump(-1, ' ', false, Json::error_handler_t::replace);
  return mlir::NameLoc::get(mlir::StringAttr::get(context, text), locationOf(program, node, context));
}

} // namespace torchere::exporter
