// Bundle: the invariants that connect its parts.
#include "artifact/bundle.h"

#include "artifact/bundle_contents.h"
#include "artifact/directory_names.h"
#include "artifact/signature.h"
#include "artifact/weight_file.h"
#include "base/folder.h"
#include "program/weight_memory.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_set>

namespace torchere::artifact {

using namespace program;

Status checkFunctionName(std::string_view name) {
  TORCHERE_TRY(checkRelativeName(name, "function"));
  if (name.find('/') != std::string_view::npos)
    return invalidArgument("[function] the name \"{}\" may not have a \"/\"", name);
  return {};
}

static Status checkFunction(const EntryPoint &function, const Bundle &bundle) {
  TORCHERE_TRY(verifyEntryPoint(function, function.name));
  for (const EntryInput &input : function.inputs) {
    if (input.source == InputSource::UserInput)
      continue;
    if (input.source == InputSource::Constant) {
      size_t index = static_cast<size_t>(input.position);
      if (index >= bundle.constants.size())
        return fail(ErrorCode::NotFound,
                    "[{}] constant {} is missing: function \"{}\" takes it, and there are {}", input.name,
                    index, function.name, bundle.constants.size());
      TORCHERE_TRY(checkWeight(bundle.constants[index], input, function));
    } else {
      auto weight = bundle.stateDict.find(input.name);
      if (weight == bundle.stateDict.end() && !bundle.hasWeights)
        continue;
      if (weight == bundle.stateDict.end())
        return fail(ErrorCode::NotFound, "[{}] the weight is missing: function \"{}\" takes it", input.name,
                    function.name);
      TORCHERE_TRY(checkWeight(weight->second, input, function));
    }
  }
  return {};
}

Result<size_t> findFunction(const Bundle &bundle, std::string_view name) {
  std::vector<std::string_view> names;
  for (const Function &function : bundle.functions) {
    if (function.entryPoint.name == name)
      return names.size();
    names.push_back(function.entryPoint.name);
  }
  return fail(ErrorCode::NotFound, "[{}] no such function in the program: expected one of {}", name,
              fmt::join(names, ", "));
}

Status verify(const Bundle &bundle) {
  for (const Function &function : bundle.functions)
    TORCHERE_TRY(checkFunctionName(function.entryPoint.name));
  for (const auto &[name, weight] : bundle.stateDict)
    TORCHERE_TRY(checkRelativeName(name, "weight"));
  return verifyContents(bundle);
}

Status verifyContents(const Bundle &bundle) {
  if (bundle.functions.empty())
    return invalidArgument("[bundle] has no functions, expected at least one");
  auto isThere = [](const auto &entry) { return hasData(entry.second) && entry.second.elementCount() > 0; };
  if (auto count = std::ranges::count_if(bundle.stateDict, isThere); !bundle.hasWeights && count > 0)
    return invalidArgument("[bundle] has {} weights, expected none: they are said to be left out", count);
  for (const auto &[name, weight] : bundle.stateDict)
    TORCHERE_TRY(verifyWeight(weight, name));
  for (size_t index = 0; index < bundle.constants.size(); ++index)
    TORCHERE_TRY(verifyWeight(bundle.constants[index], fmt::format("constant {}", index)));
  std::unordered_set<std::string_view> names;
  for (const Function &function : bundle.functions) {
    TORCHERE_TRY(checkFunction(function.entryPoint, bundle));
    if (!names.insert(function.entryPoint.name).second)
      return invalidArgument("[bundle] two functions are called \"{}\"", function.entryPoint.name);
  }
  return {};
}

} // namespace torchere::artifact
