// Callable: arguments and state of an entry point, and the preparation of its executables.
#include "session/callable.h"

#include "artifact/function_module.h"
#include "artifact/weight_data.h"
#include "base/library_identity.h"
#include "base/log.h"
#include "vhlo/portable_artifact.h"

#include <algorithm>
#include <set>
#include <unordered_set>

namespace torchere::session {

using program::EntryInput;
using program::EntryOutput;
using program::InputSource;
using program::OutputDestination;

static Result<const program::Weight *> findState(const std::string &name, const artifact::Bundle &bundle) {
  auto found = bundle.stateDict.find(name);
  if (found == bundle.stateDict.end())
    return fail(ErrorCode::NotFound, "[{}] no such weight in the program", name);
  TORCHERE_TRY(artifact::checkHasData(found->second, name));
  return &found->second;
}

static Result<const program::Weight *> findWeight(const EntryInput &input, const artifact::Bundle &bundle) {
  if (input.source == InputSource::Constant) {
    auto index = static_cast<size_t>(input.position);
    if (input.position < 0 || index >= bundle.constants.size())
      return fail(ErrorCode::NotFound,
                  "[{}] no such constant in the program: got index {}, expected less than {}", input.name,
                  input.position, bundle.constants.size());
    TORCHERE_TRY(artifact::checkHasData(bundle.constants[index], bundle.constants[index].name));
    return &bundle.constants[index];
  }
  return findState(input.name, bundle);
}

Result<std::unique_ptr<Callable>> Callable::create(const artifact::Function &function,
                                                   const artifact::Bundle &bundle, WeightStore &weights) {
  std::unique_ptr<Callable> callable(new Callable(function));
  callable->weightStore = &weights;
  TORCHERE_TRY(callable->findSources(bundle, weights));
  TORCHERE_TRY(callable->findUpdates());
  return callable;
}

Status Callable::findSources(const artifact::Bundle &bundle, WeightStore &weights) {
  for (const EntryInput &input : entryPoint().inputs) {
    if (input.source == InputSource::UserInput) {
      if (input.position < 0 || input.position >= entryPoint().userInputCount)
        return invalidArgument("[{}] position out of range: got {}, expected less than {}", input.name,
                               input.position, entryPoint().userInputCount);
      argumentSources.push_back({nullptr, static_cast<size_t>(input.position)});
      continue;
    }
    TORCHERE_ASSIGN(const program::Weight *weight, findWeight(input, bundle));
    TORCHERE_TRY(checkWeight(*weight, input, entryPoint()));
    WeightSlot &slot = input.source == InputSource::Constant ? weights.addConstant(input.name, *weight)
                                                             : weights.add(input.name, *weight);
    argumentSources.push_back({&slot, 0});
  }
  // State that the function writes without reading has a slot as well.
  for (const EntryOutput &output : entryPoint().outputs) {
    if (output.destination == OutputDestination::Check)
      status = static_cast<size_t>(&output - entryPoint().outputs.data());
    if (output.destination != OutputDestination::Buffer && output.destination != OutputDestination::Parameter)
      continue;
    TORCHERE_ASSIGN(const program::Weight *weight, findState(output.target, bundle));
    stateUpdates.push_back({static_cast<size_t>(&output - entryPoint().outputs.data()),
                            &weights.add(output.target, *weight), std::nullopt});
  }
  return {};
}

/// Marks the slots that are written as state, and finds the arguments whose memory the results can take:
/// those that are read once. (A buffer that is two arguments cannot be donated, nor one to two results, which
/// tied names have.)
Status Callable::findUpdates() {
  std::unordered_set<const WeightSlot *> written;
  for (Update &update : stateUpdates) {
    update.slot->isState = true;
    bool isFirst = written.insert(update.slot).second;
    size_t readers = 0;
    for (size_t i = 0; i < argumentSources.size(); ++i)
      if (argumentSources[i].slot == update.slot) {
        ++readers;
        update.donatedArgument = i;
      }
    if (readers != 1 || !isFirst)
      update.donatedArgument.reset();
    const program::TensorSignature &type = entryPoint().outputs[update.result].type;
    const program::Weight &weight = *update.slot->weight;
    if (!isOfType(weight, type))
      return invalidArgument("[{}] its new value has another type: got {} {}, expected {} {}",
                             update.slot->name, dtypeInfo(type.dtype).torchName,
                             shapeText(type.shape, entryPoint().expressions),
                             dtypeInfo(weight.dtype).torchName, program::shapeText(weight.shape));
  }
  return {};
}

void Callable::findStateReads() {
  for (size_t i = 0; i < argumentSources.size(); ++i)
    if (argumentSources[i].slot && argumentSources[i].slot->isState)
      stateReads.push_back(i);
}

Status Callable::donateInputs(std::span<const InputDonation> donations) {
  const std::vector<EntryOutput> &outputs = entryPoint().outputs;
  std::set<int64_t> namedInputs, namedOutputs;
  for (auto [input, output] : donations) {
    if (input < 0 || input >= entryPoint().userInputCount)
      return invalidArgument("[{}] no such input to donate: got position {}, expected less than {}",
                             entryPoint().name, input, entryPoint().userInputCount);
    auto isTarget = [&](const EntryOutput &candidate) {
      return candidate.destination == OutputDestination::UserOutput && candidate.position == output;
    };
    auto target = std::ranges::find_if(outputs, isTarget);
    if (target == outputs.end())
      return invalidArgument("[{}] no such output to take the memory of input {}: got position {}",
                             entryPoint().name, input, output);
    if (!namedInputs.insert(input).second || !namedOutputs.insert(output).second)
      return invalidArgument("[{}] donated twice: got input {} for output {}", entryPoint().name, input,
                             output);
    auto isSource = [&](const Source &candidate) {
      return !candidate.slot && candidate.position == static_cast<size_t>(input);
    };
    auto source = std::ranges::find_if(argumentSources, isSource);
    if (source == argumentSources.end())
      continue;
    auto argument = static_cast<size_t>(source - argumentSources.begin());
    const program::TensorSignature &type = entryPoint().inputs[argument].type;
    if (type.dtype != target->type.dtype || type.shape != target->type.shape)
      return invalidArgument(
          "[{}] a result of another type cannot take its memory: got {} {}, expected {} {}",
          entryPoint().inputs[argument].name, dtypeInfo(target->type.dtype).torchName,
          shapeText(target->type.shape, entryPoint().expressions), dtypeInfo(type.dtype).torchName,
          shapeText(type.shape, entryPoint().expressions));
    inputDonations.push_back({argument, static_cast<size_t>(target - outputs.begin())});
  }
  return {};
}

void Callable::continueFrom(Callable &other) {
  programDigest = other.programDigest;
  inherited = other.executables.all();
  inherited.insert(inherited.end(), other.inherited.begin(), other.inherited.end());
  std::lock_guard lock(other.moduleMutex);
  module = other.module;
}

std::vector<std::shared_ptr<const runtime::ArrayType>>
Callable::argumentTypes(std::span<const Input> inputs) const {
  std::vector<std::shared_ptr<const runtime::ArrayType>> types;
  for (const Source &source : argumentSources) {
    if (source.slot)
      types.push_back(nullptr);
    else if (const auto *tensor = std::get_if<TensorView>(&inputs[source.position]))
      types.push_back(runtime::makeArrayType(tensor->dtype, {tensor->shape.begin(), tensor->shape.end()}));
    else if (const auto *onDevice = std::get_if<DeviceTensor>(&inputs[source.position]))
      types.push_back(std::make_shared<const runtime::ArrayType>((*onDevice)->type()));
    else
      types.push_back(runtime::makeArrayType(DType::I64, {}));
  }
  return types;
}

/// The newest version that the plugin reads and we write. None if the plugin does not report one: it then
/// gets text.
static std::optional<vhlo::Version> readerVersion(const runtime::Client &client) {
  auto numbers = client.plugin().stablehloVersion();
  if (!numbers)
    return std::nullopt;
  auto number = [&](size_t place) {
    return static_cast<int>(std::clamp<int64_t>((*numbers)[place], 0, 1 << 20));
  };
  auto target = vhlo::targetFor({number(0), number(1), number(2)});
  return target ? std::optional(*target) : std::nullopt;
}

/// A portable artifact of the version, or text if the plugin does not report one. A module that no artifact
/// can express is passed as text too, in case the plugin supports more than we do.
static std::string encode(const stablehlo::Module &module, const std::optional<vhlo::Version> &version,
                          bool withLocations) {
  if (!version)
    return module.text(withLocations);
  auto bytecode = vhlo::serialize(module, {.target = *version, .withLocations = withLocations});
  if (bytecode)
    return *std::move(bytecode);
  TORCHERE_LOG_LINE(Info, "compile", "{}: the plugin gets the text", bytecode.error().text());
  return module.text(withLocations);
}

passes::Target Callable::targetFor(const runtime::Client &client, std::vector<passes::ArgumentShape> shapes,
                                   Sizing sizing) const {
  passes::Target target = {.version = readerVersion(client), .traits = client.traits()};
  bool isOpen =
      callSignature.isDynamic() && sizing == Sizing::AsThePluginTakes && client.traits().bindsOpenSizes;
  if (callSignature.isDynamic() && !isOpen)
    target.shapes = std::move(shapes);
  for (size_t i = 0; isOpen && i < argumentSources.size(); ++i)
    if (entryPoint().inputs[i].isInShapes)
      target.argumentsInShapes.push_back(i);
  for (const Update &update : stateUpdates)
    if (update.donatedArgument)
      target.donations.push_back({*update.donatedArgument, update.result});
  target.donations.insert(target.donations.end(), inputDonations.begin(), inputDonations.end());
  if (client.plugin().knowsWeights())
    for (size_t i = 0; i < argumentSources.size(); ++i)
      if (argumentSources[i].slot && !argumentSources[i].slot->isState)
        target.weights.push_back(i);
  return target;
}

static void addTo(Digest &digest, const passes::ArgumentShape &shape) {
  digest.addField(uint64_t{shape.sizes.size()});
  for (int64_t size : shape.sizes)
    digest.addField(static_cast<uint64_t>(size));
  if (shape.value)
    digest.addField("value").addField(static_cast<uint64_t>(*shape.value));
}

static std::string printed(const stablehlo::SharedModule &shared) {
  return shared.read([](const stablehlo::Module &module) { return module.text(); });
}

/// Identifies the result of programFor() without producing it: the digest covers the program, how it is
/// prepared, and the build of the code that prepares it.
std::string Callable::identity(const passes::Target &target) {
  std::call_once(programDigest->once, [&] {
    static const char inThisLibrary = 0;
    programDigest->value.addField(libraryIdentity(&inThisLibrary));
    programDigest->value.addField(function.module ? printed(*function.module) : function.text);
    programDigest->value.addField(function.bytecode);
  });
  Digest digest = programDigest->value;
  digest.addField(target.version ? target.version->text() : "text").addField(target.traits.text());
  digest.addField(uint64_t{target.donations.size()});
  for (const passes::Donation &donation : target.donations)
    digest.addField(uint64_t{donation.argument}).addField(uint64_t{donation.result});
  digest.addField(uint64_t{target.weights.size()});
  for (size_t argument : target.weights)
    digest.addField(uint64_t{argument});
  if (target.shapes)
    for (const passes::ArgumentShape &shape : *target.shapes)
      addTo(digest, shape);
  digest.addField(uint64_t{target.argumentsInShapes.size()});
  for (size_t argument : target.argumentsInShapes)
    digest.addField(uint64_t{argument});
  return "specialization " + hexText(digest.finish());
}

/// The program that the plugin compiles. `shapes` are those of the arguments: a module may have sizes that
/// depend on data where those of the arguments are constants.
Result<std::string> Callable::programFor(passes::Target target,
                                         const std::vector<passes::ArgumentShape> &shapes,
                                         bool withLocations) {
  TORCHERE_ASSIGN(auto shared, findModule());
  return shared->read([&](const stablehlo::Module &read) -> Result<std::string> {
    stablehlo::Module prepared = read.clone();
    bool isOpen = callSignature.isDynamic() && target.traits.bindsOpenSizes;
    if (!target.shapes && !isOpen && !passes::isStatic(prepared))
      target.shapes = shapes;
    TORCHERE_TRY(passes::prepareFor(prepared, target));
    refinementCount += target.shapes.has_value();
    return encode(prepared, target.version, withLocations || artifact::hasLocations(function));
  });
}

/// Parsed on first use: a loaded program whose executable is in the cache never needs it.
Result<std::shared_ptr<const stablehlo::SharedModule>> Callable::findModule() {
  std::lock_guard lock(moduleMutex);
  if (!module) {
    TORCHERE_ASSIGN(module, artifact::readModule(function));
  }
  return module;
}

/// By argument.
std::vector<passes::ArgumentShape>
Callable::shapesOf(std::span<const Input> inputs,
                   std::span<const std::shared_ptr<const runtime::ArrayType>> types) const {
  std::vector<passes::ArgumentShape> shapes;
  for (size_t i = 0; i < argumentSources.size(); ++i) {
    shapes.push_back({argumentSources[i].slot ? argumentSources[i].slot->weight->shape : types[i]->shape});
    if (entryPoint().inputs[i].isInShapes)
      shapes.back().value = *std::get<program::Constant>(inputs[argumentSources[i].position]).as<int64_t>();
  }
  return shapes;
}

Result<std::shared_ptr<const runtime::Executable>>
Callable::compile(std::vector<passes::ArgumentShape> shapes, Sizing sizing, runtime::Client &client,
                  std::optional<int> device) {
  passes::Target target = targetFor(client, shapes, sizing);
  runtime::ProgramSource source{
      identity(target), [&] { return programFor(target, shapes, client.plugin().profiles() != nullptr); },
      callSignature.isDynamic() && !target.shapes};
  TORCHERE_ASSIGN(auto executable, client.compile(source, {.device = device}));
  if (executable->outputCount() != entryPoint().outputs.size())
    return fail(ErrorCode::Internal,
                "[{}] wrong number of results of the compiled program: got {}, expected {}",
                entryPoint().name, executable->outputCount(), entryPoint().outputs.size());
  return executable;
}

Result<std::shared_ptr<const Specialization>> Callable::prepare(const Sizes &sizes,
                                                                std::span<const Input> inputs,
                                                                runtime::Client &client,
                                                                std::optional<int> device) {
  TORCHERE_TRY(callSignature.checkSizes(sizes));
  for (const Source &source : argumentSources)
    if (source.slot)
      TORCHERE_TRY(weightStore->makeResident(*source.slot));
  auto specialization = std::make_shared<Specialization>();
  specialization->argumentTypes = argumentTypes(inputs);
  TORCHERE_ASSIGN(specialization->executable, compile(shapesOf(inputs, specialization->argumentTypes),
                                                      Sizing::AsThePluginTakes, client, device));
  ++preparationCount;
  return std::shared_ptr<const Specialization>(std::move(specialization));
}

Result<std::shared_ptr<const Specialization>> Callable::findOrPrepare(const Sizes &sizes,
                                                                      std::span<const Input> inputs,
                                                                      runtime::Client &client,
                                                                      std::optional<int> device) {
  if (auto found = executables.find(sizes))
    return found;
  std::shared_ptr<const Specialization> replaced; // destroyed outside the lock: the plugin may take its time
  return preparations.get(
      sizes, [&] { return executables.find(sizes); }, [&] { return prepare(sizes, inputs, client, device); },
      [&](const auto &made) { replaced = executables.put(sizes, made); });
}

Result<std::shared_ptr<const Specialization>> Callable::specialize(const Sizes &sizes,
                                                                   std::span<const Input> inputs,
                                                                   runtime::Client &client,
                                                                   std::optional<int> device) {
  auto specialization = findOrPrepare(sizes, inputs, client, device);
  if (specialization)
    callCount.fetch_add(1, std::memory_order_relaxed); // only calls that passed the checks are counted
  return specialization;
}

Status Callable::prepareFor(const Sizes &sizes, std::span<const Input> inputs, runtime::Client &client,
                            std::optional<int> device) {
  TORCHERE_TRY(findOrPrepare(sizes, inputs, client, device));
  return {};
}

Result<runtime::MemoryStatistics> Callable::memoryStatistics(const Sizes &sizes,
                                                             std::span<const Input> inputs,
                                                             runtime::Client &client,
                                                             std::optional<int> device) {
  if (callSignature.isDynamic() && client.traits().bindsOpenSizes) {
    TORCHERE_TRY(callSignature.checkSizes(sizes));
    TORCHERE_ASSIGN(auto executable,
                    compile(shapesOf(inputs, argumentTypes(inputs)), Sizing::Fixed, client, device));
    return executable->memoryStatistics();
  }
  TORCHERE_ASSIGN(auto specialization, findOrPrepare(sizes, inputs, client, device));
  return specialization->executable->memoryStatistics();
}

CallCounts Callable::counts() const {
  return {callCount, refinementCount, preparationCount};
}

} // namespace torchere::session
