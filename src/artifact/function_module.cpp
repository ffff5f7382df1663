// Reads, prints and writes the modules of functions.
#include "artifact/function_module.h"

#include "passes/compatibility/serialize_expanded.h"

namespace torchere::artifact {

Result<stablehlo::Module> readModule(const Function &function) {
  const std::string &name = function.entryPoint.name;
  if (!function.bytecode.empty())
    return vhlo::deserialize(function.bytecode, name);
  return stablehlo::Module::parse(function.text, name);
}

Result<std::string> moduleText(const Function &function) {
  if (!function.text.empty())
    return function.text;
  TORCHERE_ASSIGN(stablehlo::Module module, readModule(function));
  return module.text();
}

/// Whether the module says where its ops come from. Text without locations is parsed with those of its own
/// lines, which nobody wants to keep; text with locations has an alias for one at least.
static bool hasLocations(const Function &function) {
  return !function.bytecode.empty() || function.text.find("#loc") != std::string::npos;
}

Result<std::string> moduleBytecode(const Function &function, const vhlo::Version &target) {
  if (!function.bytecode.empty()) {
    auto version = vhlo::artifactVersion(function.bytecode, function.entryPoint.name);
    if (version && *version == target)
      return function.bytecode;
  }
  TORCHERE_ASSIGN(stablehlo::Module module, readModule(function));
  return passes::serializeExpanded(module, {.target = target, .withLocations = hasLocations(function)});
}

} // namespace torchere::artifact
