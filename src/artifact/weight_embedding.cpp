// Programs whose weights are constants of their modules.
#include "artifact/weight_embedding.h"

#include "artifact/function_module.h"
#include "artifact/weight_data.h"
#include "artifact/weight_file.h"
#include "base/npy.h"
#include "passes/compatibility/serialize_expanded.h"
#include "passes/embedding/constant_arguments.h"
#include "program/weight_memory.h"
#include "vhlo/portable_artifact.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace torchere::artifact {

using namespace program;

namespace {

/// The weights that functions write, under all their names.
class States {
public:
  explicit States(const Bundle &bundle) {
    for (const Function &function : bundle.functions)
      for (const EntryOutput &output : function.entryPoint.outputs)
        if (output.destination == OutputDestination::Buffer ||
            output.destination == OutputDestination::Parameter) {
          names.insert(output.target);
          const Weight &weight = bundle.stateDict.at(output.target);
          if (weight.elementCount() > 0)
            views.insert(viewOf(weight));
        }
  }
  bool has(const std::string &name, const Weight &weight) const {
    return names.contains(name) || (weight.elementCount() > 0 && views.contains(viewOf(weight)));
  }

private:
  std::set<std::string> names;
  std::set<View> views;
};

/// An argument that becomes a constant.
struct Embedded {
  size_t argument = 0;
  const Weight *weight = nullptr;
  std::string name;
  uint64_t size() const { return static_cast<uint64_t>(weight->elementCount()) * byteSize(weight->dtype); }
};

} // namespace

static Result<std::vector<Embedded>> findEmbedded(const Bundle &bundle, const EntryPoint &entryPoint,
                                                  const States &states) {
  std::vector<Embedded> found;
  for (size_t index = 0; index < entryPoint.inputs.size(); ++index) {
    const EntryInput &input = entryPoint.inputs[index];
    if (input.source == InputSource::UserInput)
      continue;
    bool isConstant = input.source == InputSource::Constant;
    if (!isConstant && !bundle.stateDict.contains(input.name))
      return fail(ErrorCode::FailedPrecondition, "[{}] cannot be embedded: the program has no weights",
                  input.name);
    const Weight &weight =
        isConstant ? bundle.constants[static_cast<size_t>(input.position)] : bundle.stateDict.at(input.name);
    if (!isConstant && states.has(input.name, weight))
      continue;
    TORCHERE_TRY(checkHasData(weight, weight.name));
    found.push_back({index, &weight, input.name});
  }
  return found;
}

static Status checkSize(const EntryPoint &entryPoint, std::vector<Embedded> embedded, uint64_t limit) {
  uint64_t total = 0;
  for (const Embedded &one : embedded)
    total += one.size();
  if (total <= limit)
    return {};
  constexpr size_t shown = 3;
  std::ranges::stable_sort(embedded, std::ranges::greater(), &Embedded::size);
  std::vector<std::string> largest;
  for (size_t index = 0; index < std::min(shown, embedded.size()); ++index)
    largest.push_back(fmt::format("{} ({} bytes)", embedded[index].name, embedded[index].size()));
  return invalidArgument("[{}] its weights are too large to be embedded: got {} bytes, expected {} at most "
                         "(the largest: {}); save it without embed_weights",
                         entryPoint.name, total, limit, fmt::join(largest, ", "));
}

/// The elements, dense and row major: those of the weight itself if they are, otherwise gathered to `copy`.
static Result<std::span<const std::byte>> elementsOf(const Embedded &embedded, std::vector<std::byte> &copy) {
  const Weight &weight = *embedded.weight;
  size_t size = embedded.size();
  if (size == 0)
    return std::span<const std::byte>();
  if (weight.strides == denseStrides(weight.shape, /*fortranOrder=*/false))
    return std::span(weight.data(), size);
  copy.reserve(size);
  TORCHERE_TRY(writeElements(weight, [&](std::span<const std::byte> bytes) {
    copy.insert(copy.end(), bytes.begin(), bytes.end());
    return Status();
  }));
  return std::span<const std::byte>(copy);
}

static void dropWeights(EntryPoint &entryPoint, const Bundle &bundle, const States &states) {
  for (auto *inputs : {&entryPoint.inputs, &entryPoint.unusedInputs})
    std::erase_if(*inputs, [&](const EntryInput &input) {
      if (input.source == InputSource::UserInput || input.source == InputSource::Constant)
        return input.source == InputSource::Constant;
      auto weight = bundle.stateDict.find(input.name);
      return weight == bundle.stateDict.end() || !states.has(input.name, weight->second);
    });
}

/// In a context of its own, which is gone with the constants in it.
static Result<Function> embed(const Function &function, const Bundle &bundle, const States &states,
                              const vhlo::Version &target, uint64_t limit) {
  const EntryPoint &entryPoint = function.entryPoint;
  TORCHERE_ASSIGN(std::vector<Embedded> embedded, findEmbedded(bundle, entryPoint, states));
  TORCHERE_TRY(checkSize(entryPoint, embedded, limit));
  TORCHERE_ASSIGN(std::string bytecode, moduleBytecode(function, vhlo::currentVersion));
  TORCHERE_ASSIGN(stablehlo::Module module, vhlo::deserialize(bytecode, entryPoint.name));
  std::vector<std::vector<std::byte>> copies(embedded.size());
  std::vector<passes::ArgumentValue> values;
  for (size_t index = 0; index < embedded.size(); ++index) {
    TORCHERE_ASSIGN(std::span<const std::byte> elements, elementsOf(embedded[index], copies[index]));
    values.push_back({embedded[index].argument, elements});
  }
  TORCHERE_TRY(passes::embedArguments(module, values));
  Function made;
  made.entryPoint = entryPoint;
  dropWeights(made.entryPoint, bundle, states);
  TORCHERE_ASSIGN(made.bytecode, passes::serializeExpanded(
                                     module, {.target = target, .withLocations = hasLocations(function)}));
  return made;
}

Result<Bundle> embedWeights(const Bundle &bundle, const vhlo::Version &target,
                            std::optional<std::string_view> function, uint64_t limit) {
  States states(bundle);
  Bundle made;
  for (const Function &one : bundle.functions) {
    if (function && one.entryPoint.name != *function)
      continue;
    TORCHERE_ASSIGN(Function with, embed(one, bundle, states, target, limit));
    made.functions.push_back(std::move(with));
  }
  for (const auto &[name, weight] : bundle.stateDict)
    if (states.has(name, weight))
      made.stateDict.emplace(name, weight);
  TORCHERE_TRY(verify(made));
  return made;
}

} // namespace torchere::artifact
