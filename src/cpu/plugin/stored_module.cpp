// Implements the storing of a program's plans.
#include "cpu/plugin/stored_module.h"

#include "base/log.h"
#include "cpu/plugin/stored_entry.h"

#include <algorithm>

namespace torchere::cpu {

namespace {

/// A number for each step of the plan that the weight program's values are packed for.
std::vector<std::vector<uint64_t>> packerNumbers(const CompiledModule &compiled) {
  std::unordered_map<const Step *, uint64_t> numbers;
  for (const std::unique_ptr<const Step> &step : compiled.plan->steps)
    numbers.emplace(step.get(), numbers.size());
  std::vector<std::vector<uint64_t>> packers;
  for (const std::vector<const Step *> &after : compiled.packers) {
    packers.emplace_back();
    for (const Step *step : after)
      packers.back().push_back(numbers.at(step));
  }
  return packers;
}

/// Reads a module's parts, each of which is verified by those before it.
class ModuleReader {
public:
  ModuleReader(std::string_view bytes, Isa isa) : reader(bytes, isa), isa(isa) {}
  Result<std::optional<CompiledModule>> read();

private:
  void readEntry();
  void readWeights();
  void readPlan();
  void readPackers();
  Status verifyWeights(const WeightProgram &program) const;
  Status verifyPlan() const;
  Status verifyArgument(const Buffer &buffer) const;

  PlanReader reader;
  Isa isa;
  CompiledModule compiled;
  std::vector<int64_t> argumentBytes, resultBytes;
};

int64_t bytesOf(const interpreter::TensorType &type) {
  return elementCount(type.shape) * elementTypeInfo(type.elementType).bytes();
}

void ModuleReader::readEntry() {
  const interpreter::EntryPoint &entry = compiled.entry;
  reader.get(compiled.entry);
  reader.get(compiled.isWeight);
  if (reader.hasFailed() || !reader.check(verifyEntry(entry, 0)) ||
      !reader.check(expectEqual("marks of weights", compiled.isWeight.size(), entry.arguments.size())))
    return;
  for (const interpreter::EntryArgument &argument : entry.arguments)
    argumentBytes.push_back(bytesOf(argument.type));
  for (const interpreter::TensorType &type : entry.results)
    resultBytes.push_back(bytesOf(type));
}

/// Every value is a result of its own, or lies in the arena until it is packed.
Status ModuleReader::verifyWeights(const WeightProgram &program) const {
  const Plan &plan = program.plan;
  TORCHERE_TRY(expectEqual("values of weights", plan.results.size(), program.isKept.size()));
  TORCHERE_TRY(expect(std::count(plan.writtenArguments.begin(), plan.writtenArguments.end(), true) == 0,
                      "weights that are written"));
  for (size_t index : program.arguments)
    TORCHERE_TRY(
        expect(index < argumentBytes.size(), "weight {}: expected one of {}", index, argumentBytes.size()));
  for (const Buffer &buffer : plan.buffers)
    if (buffer.home == Home::Argument)
      TORCHERE_TRY(verifyArgument(buffer));
  int64_t kept = 0;
  for (size_t value = 0; value < plan.results.size(); ++value) {
    const Buffer &buffer = plan.buffers[plan.results[value]];
    bool isResult = buffer.home == Home::Result && buffer.index == value;
    TORCHERE_TRY(expect(program.isKept[value] ? isResult : buffer.home == Home::Arena,
                        "value {} of weights lies in another place", value));
    kept += program.isKept[value] ? buffer.bytes : 0;
    TORCHERE_TRY(expectWithin("bytes of weights' values", {kept}, 0, mostElements));
  }
  return {};
}

Status ModuleReader::verifyArgument(const Buffer &buffer) const {
  if (buffer.index < argumentBytes.size())
    return expectWithin("bytes of an argument", {buffer.bytes}, 0, argumentBytes[buffer.index]);
  size_t value = buffer.index - argumentBytes.size();
  TORCHERE_TRY(expect(compiled.weights && value < compiled.weights->isKept.size(), "an argument: got {}",
                      buffer.index));
  const Plan &weights = compiled.weights->plan;
  return expectWithin("bytes of a value", {buffer.bytes}, 0, weights.buffers[weights.results[value]].bytes);
}

void ModuleReader::readWeights() {
  bool has = false;
  reader.get(has);
  if (!has || reader.hasFailed())
    return;
  auto program = std::make_shared<WeightProgram>();
  reader.get(program->arguments);
  reader.get(program->isKept);
  reader.getPlan(program->plan, std::vector<bool>(argumentBytes.size()));
  if (!reader.hasFailed() && reader.check(verifyWeights(*program)))
    compiled.weights = std::move(program);
}

/// Its results are the program's, and so are its arguments, or values of the weight program.
Status ModuleReader::verifyPlan() const {
  const Plan &plan = *compiled.plan;
  for (const Buffer &buffer : plan.buffers)
    if (buffer.home == Home::Argument)
      TORCHERE_TRY(verifyArgument(buffer));
  for (size_t index = 0; index < plan.writtenArguments.size(); ++index) {
    bool isFixed = index >= compiled.isWeight.size() || compiled.isWeight[index];
    TORCHERE_TRY(
        expect(!isFixed || !plan.writtenArguments[index], "a weight that is written: argument {}", index));
  }
  TORCHERE_TRY(expectEqual("results", plan.results.size(), resultBytes.size()));
  for (size_t index = 0; index < plan.results.size(); ++index) {
    const Buffer &buffer = plan.buffers[plan.results[index]];
    bool isOwn = buffer.home == Home::Result && buffer.index == index && buffer.bytes == resultBytes[index];
    bool isArgument = buffer.home == Home::Argument && buffer.index < argumentBytes.size() &&
                      compiled.entry.arguments[buffer.index].type == compiled.entry.results[index];
    TORCHERE_TRY(expect(isOwn || isArgument, "result {} lies in another place, or has another size", index));
  }
  return {};
}

void ModuleReader::readPlan() {
  std::vector<bool> isGone(argumentBytes.size());
  if (compiled.weights)
    for (bool isKept : compiled.weights->isKept)
      isGone.push_back(!isKept);
  reader.getPlan(compiled.plan.emplace(), std::move(isGone));
  if (!reader.hasFailed())
    reader.check(verifyPlan());
}

void ModuleReader::readPackers() {
  std::vector<std::vector<uint64_t>> packers;
  reader.get(packers);
  size_t expected = compiled.weights ? compiled.weights->plan.steps.size() + 1 : 0;
  if (reader.hasFailed() || !reader.check(expectEqual("lists of packing steps", packers.size(), expected)))
    return;
  const Steps &steps = compiled.plan->steps;
  for (const std::vector<uint64_t> &after : packers) {
    compiled.packers.emplace_back();
    for (uint64_t number : after) {
      if (!reader.check(
              expect(number < steps.size(), "packing step {}: expected one of {}", number, steps.size())))
        return;
      compiled.packers.back().push_back(steps[number].get());
    }
  }
}

Result<std::optional<CompiledModule>> ModuleReader::read() {
  if (!takeMaker(reader, isa) && !reader.hasFailed())
    return std::nullopt;
  if (!reader.hasFailed())
    readEntry();
  if (!reader.hasFailed())
    readWeights();
  if (!reader.hasFailed())
    readPlan();
  if (!reader.hasFailed())
    readPackers();
  if (Status status = reader.finish(); !status)
    return invalidArgument("[plan] {}", status.error().message);
  return std::optional(std::move(compiled));
}

void putWeights(PlanWriter &writer, const WeightProgram &program) {
  writer.put(program.arguments);
  writer.put(program.isKept);
  writer.putPlan(program.plan);
}

std::string written(const CompiledModule &compiled, Isa isa, Status &status) {
  PlanWriter writer;
  putMaker(writer, isa);
  writer.put(compiled.entry);
  writer.put(compiled.isWeight);
  writer.put(compiled.weights != nullptr);
  if (compiled.weights)
    putWeights(writer, *compiled.weights);
  writer.putPlan(*compiled.plan);
  writer.put(packerNumbers(compiled));
  status = writer.finish();
  return writer.take();
}

} // namespace

std::string storeWeightProgram(const WeightProgram &program, Isa isa) {
  if (!canStore())
    return {};
  PlanWriter writer;
  putMaker(writer, isa);
  putWeights(writer, program);
  return writer.finish() ? writer.take() : std::string();
}

std::string storeModule(const CompiledModule &compiled, Isa isa) {
  if (!canStore())
    return {};
  Status status;
  std::string bytes = written(compiled, isa, status);
  if (status) // what would not be read again is not stored
    if (Result<std::optional<CompiledModule>> again = loadModule(bytes, isa); !again)
      status = tl::unexpected(std::move(again).error());
  if (status)
    return bytes;
  TORCHERE_LOG_LINE(Debug, "cpu", "[{}] its plan is not stored: {}", compiled.entry.name,
                    status.error().message);
  return {};
}

Result<std::optional<CompiledModule>> loadModule(std::string_view stored, Isa isa) {
  return ModuleReader(stored, isa).read();
}

} // namespace torchere::cpu
