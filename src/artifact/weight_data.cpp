// The data of a bundle's weights: supplied to weights that are types alone, exchanged for others, left out.
#include "artifact/weight_data.h"

#include "artifact/weight_file.h"
#include "program/initial_generator.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <span>

namespace torchere::artifact {

using namespace program;

static constexpr size_t shownNames = 10;

static Error unknownName(const Bundle &bundle, std::string_view name) {
  std::set<std::string_view> names;
  for (const auto &[known, weight] : bundle.stateDict)
    names.insert(known);
  for (const Weight &constant : bundle.constants)
    names.insert(constant.name);
  std::vector<std::string_view> shown(names.begin(), names.end());
  size_t others = shown.size() - std::min(shown.size(), shownNames);
  shown.resize(shown.size() - others);
  return {ErrorCode::NotFound,
          fmt::format("[{}] no such weight in the program: expected one of {}{}", name,
                      fmt::join(shown, ", "), others ? fmt::format(", and {} others", others) : ""),
          {}};
}

/// The weight takes the place of one of the same type.
static Status exchangeData(Weight &weight, const Weight &given) {
  if (given.dtype != weight.dtype)
    return invalidArgument("[{}] wrong dtype: got {}, expected {}", given.name,
                           dtypeInfo(given.dtype).torchName, dtypeInfo(weight.dtype).torchName);
  if (given.shape != weight.shape)
    return invalidArgument("[{}] wrong shape: got {}, expected {}", given.name, shapeText(given.shape),
                           shapeText(weight.shape));
  weight.strides = given.strides;
  weight.storageOffset = given.storageOffset;
  weight.storage = given.storage;
  return {};
}

using NamesByView = std::multimap<View, std::string_view>;

static NamesByView namesByView(const Bundle &bundle) {
  NamesByView names;
  for (const auto &[name, weight] : bundle.stateDict)
    if (weight.elementCount() > 0) // empty ones are not tied
      names.emplace(viewOf(weight), name);
  return names;
}

/// The data of the names that are tied to one of the state dict, and are not given themselves.
static Status exchangeTied(Bundle &made, const Bundle &bundle, const Weight &given, const NamesByView &views,
                           const std::set<std::string_view> &names) {
  auto [first, last] = views.equal_range(viewOf(bundle.stateDict.at(given.name)));
  for (auto tied = first; tied != last; ++tied)
    if (!names.contains(tied->second))
      TORCHERE_TRY(exchangeData(made.stateDict.at(std::string(tied->second)), given));
  return {};
}

Result<Bundle> withWeights(const Bundle &bundle, const std::vector<Weight> &given) {
  Bundle made = bundle;
  made.hasWeights = true;
  NamesByView views = namesByView(bundle);
  std::set<std::string_view> names;
  for (const Weight &weight : given)
    names.insert(weight.name);
  for (const Weight &weight : given) {
    TORCHERE_TRY(verifyWeight(weight, weight.name));
    if (auto found = made.stateDict.find(weight.name); found != made.stateDict.end()) {
      TORCHERE_TRY(exchangeData(found->second, weight));
      TORCHERE_TRY(exchangeTied(made, bundle, weight, views, names));
      continue;
    }
    auto isOfName = [&](const Weight &constant) { return constant.name == weight.name; };
    if (std::ranges::none_of(made.constants, isOfName))
      return tl::unexpected(unknownName(bundle, weight.name));
    for (Weight &constant : made.constants | std::views::filter(isOfName))
      TORCHERE_TRY(exchangeData(constant, weight));
  }
  // Nobody supplies where random numbers start.
  if (auto generator = made.stateDict.find(std::string(generatorBuffer));
      generator != made.stateDict.end() && !hasData(generator->second))
    generator->second = initialGenerator();
  return made;
}

void leaveWeightsOut(Bundle &bundle) {
  std::map<const Storage *, std::shared_ptr<const Storage>> emptied; // tied weights stay tied
  for (auto &[name, weight] : bundle.stateDict) {
    std::shared_ptr<const Storage> &storage = emptied[weight.storage.get()];
    if (!storage)
      storage = std::make_shared<const Storage>(Storage{nullptr, nullptr, weight.storage->byteSize});
    weight.storage = storage;
  }
  bundle.hasWeights = false;
}

std::vector<std::string> namesWithoutData(const Bundle &bundle) {
  std::set<std::string> names;
  for (const Function &function : bundle.functions)
    for (const EntryInput &input : function.entryPoint.inputs) {
      if (input.source == InputSource::UserInput)
        continue;
      bool isConstant = input.source == InputSource::Constant;
      auto found = bundle.stateDict.find(input.name);
      const Weight *weight = isConstant ? &bundle.constants[static_cast<size_t>(input.position)]
                             : found == bundle.stateDict.end() ? nullptr
                                                               : &found->second;
      if (weight && !hasData(*weight))
        names.insert(isConstant ? weight->name : input.name);
    }
  return {names.begin(), names.end()};
}

Status checkHasData(const Weight &weight, std::string_view name) {
  if (hasData(weight))
    return {};
  return fail(ErrorCode::FailedPrecondition,
              "[{}] has no data: the program was exported or saved without it, expected "
              "program.with_weights({{\"{}\": ...}}) before the call",
              name, name);
}

} // namespace torchere::artifact
