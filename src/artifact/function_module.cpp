// Parses, prints and serializes the modules of functions.
#include "artifact/function_module.h"

#include "passes/compatibility/serialize_expanded.h"
#include "passes/precision/product_precision.h"
#include "stablehlo/located_text.h"

namespace torchere::artifact {

using stablehlo::SharedModule;

/// The stored one.
static Result<stablehlo::Module> parseModule(const Function &function) {
  const std::string &name = function.entryPoint.name;
  return function.bytecode.empty() ? stablehlo::Module::parse(function.text, name)
                                   : vhlo::deserialize(function.bytecode, name);
}

Result<std::shared_ptr<const SharedModule>> readModule(const Function &function) {
  if (function.module)
    return function.module;
  TORCHERE_ASSIGN(stablehlo::Module module, parseModule(function));
  return std::make_shared<const SharedModule>(std::move(module));
}

Result<std::string> moduleText(const Function &function) {
  if (!function.text.empty())
    return function.text;
  TORCHERE_ASSIGN(auto shared, readModule(function));
  return shared->read([&](const stablehlo::Module &module) {
    return function.printsLocations ? stablehlo::locatedText(module) : module.text();
  });
}

bool hasLocations(const Function &function) {
  if (function.module)
    return function.printsLocations;
  return !function.bytecode.empty() || function.text.find("loc(") != std::string::npos;
}

Result<std::string> moduleBytecode(const Function &function, const vhlo::Version &target) {
  if (!function.bytecode.empty()) {
    auto version = vhlo::artifactVersion(function.bytecode, function.entryPoint.name);
    if (version && *version == target)
      return function.bytecode;
  }
  vhlo::WriteOptions options{.target = target, .withLocations = hasLocations(function)};
  TORCHERE_ASSIGN(auto shared, readModule(function));
  return shared->read(
      [&](const stablehlo::Module &module) { return passes::serializeExpanded(module, options); });
}

Status setPrecision(Function &function, std::string_view precision) {
  TORCHERE_ASSIGN(stablehlo::Module module, parseModule(function));
  TORCHERE_TRY(passes::setProductPrecision(module, precision));
  function.printsLocations = hasLocations(function);
  function.module = std::make_shared<const SharedModule>(std::move(module));
  function.text.clear();
  function.bytecode.clear();
  return {};
}

} // namespace torchere::artifact
