// Implements the storing of programs: the first byte is the kind.
#include "cpu/plugin/stored_program.h"

#include "base/log.h"
#include "cpu/plugin/stored_entry.h"
#include "cpu/plugin/stored_module.h"
#include "cpu/plugin/thread_clock.h"

#include <algorithm>

namespace torchere::cpu {

namespace {

enum class StoredKind : uint8_t { Plan, Processes, Sizes };

} // namespace

template <> struct Enumerators<StoredKind> {
  static constexpr StoredKind last = StoredKind::Sizes;
};
template <> struct Fields<interpreter::ProcessCounts> {
  static auto of(auto &counts) { return std::tie(counts.replicas, counts.partitions); }
};
template <> struct Fields<SizedPlan> {
  static auto of(auto &plan) { return std::tie(plan.sizes, plan.stored); }
};

namespace {

using interpreter::ProcessCounts;
using pjrt_server::Program;

bool areEqual(ProcessCounts one, ProcessCounts other) {
  return one.replicas == other.replicas && one.partitions == other.partitions;
}

PlanWriter begin(StoredKind kind, ProcessCounts processes, Isa isa) {
  PlanWriter writer;
  writer.put(kind);
  putMaker(writer, isa);
  writer.put(processes);
  return writer;
}

/// Whether what follows is for the source; refuses what nobody can have stored.
bool takeBeginning(PlanReader &reader, const ProgramSource &source) {
  ProcessCounts processes;
  if (!takeMaker(reader, source.target.isa))
    return false;
  reader.get(processes);
  return areEqual(processes, source.target.processes);
}

tl::unexpected<Error> refused(PlanReader &reader) {
  return invalidArgument("[plan] {}", reader.finish().error().message);
}

/// Null as of loadProgram().
Result<std::unique_ptr<const CpuProgram>> loadPlan(std::string_view stored, const ProgramSource &source) {
  if (stored.empty() || stored.front() != static_cast<char>(StoredKind::Plan))
    return invalidArgument("[plan] expected that of a process");
  ThreadClock clock;
  TORCHERE_ASSIGN(std::optional<CompiledModule> compiled, loadModule(stored.substr(1), source.target.isa));
  if (!compiled)
    return nullptr;
  auto program = std::make_unique<const CpuProgram>(*std::move(compiled), source.target.processes,
                                                    source.context, source.family);
  program->log();
  TORCHERE_LOG_LINE(Debug, "cpu", "[{}] loaded {} bytes of a plan in {:.2f} ms", program->entry().name,
                    stored.size(), clock.milliseconds());
  return program;
}

Result<std::unique_ptr<const Program>> loadProcesses(PlanReader &reader, const ProgramSource &source) {
  std::vector<std::string> plans;
  reader.get(plans);
  auto count = static_cast<size_t>(source.target.processes.replicas * source.target.processes.partitions);
  reader.check(expectEqual("plans of processes", plans.size(), count));
  if (Status status = reader.finish(); !status)
    return invalidArgument("[plan] {}", status.error().message);
  std::vector<std::unique_ptr<const CpuProgram>> programs;
  for (const std::string &plan : plans) {
    TORCHERE_ASSIGN(auto program, loadPlan(plan, source));
    if (!program)
      return nullptr;
    if (!programs.empty() && !areAlike(program->entry(), programs.front()->entry()))
      return invalidArgument("[plan] process {} has other arguments or results than process 0",
                             programs.size());
    programs.push_back(std::move(program));
  }
  return std::make_unique<const ParallelProgram>(std::move(programs), source.target);
}

/// How many sizes a call of the program binds.
size_t boundCount(const interpreter::EntryPoint &entry) {
  size_t count = 0;
  for (const interpreter::EntryArgument &argument : entry.arguments)
    count += static_cast<size_t>(std::ranges::count(argument.type.shape, interpreter::unknownSize)) +
             argument.isInShapes;
  return count;
}

/// Plans are of static sizes: those of open sizes could be nested to any depth.
Status verifySized(const SizedPlan &plan, size_t count) {
  TORCHERE_TRY(expectEqual("sizes of a plan", plan.sizes.size(), count));
  bool isOpen = plan.stored.starts_with(static_cast<char>(StoredKind::Sizes));
  return expect(!isOpen, "a plan for given sizes has open sizes itself");
}

Result<std::unique_ptr<const Program>> loadSizes(PlanReader &reader, const ProgramSource &source) {
  ThreadClock clock;
  interpreter::EntryPoint entry;
  std::vector<SizedPlan> plans;
  reader.get(entry);
  reader.get(plans);
  if (!reader.hasFailed())
    reader.check(verifyEntry(entry, interpreter::unknownSize));
  for (const SizedPlan &plan : plans)
    reader.check(verifySized(plan, boundCount(entry)));
  if (Status status = reader.finish(); !status)
    return invalidArgument("[plan] {}", status.error().message);
  TORCHERE_LOG_LINE(Debug, "cpu", "[{}] loaded a program of open sizes with {} plans in {:.2f} ms",
                    entry.name, plans.size(), clock.milliseconds());
  return std::make_unique<const OpenProgram>(std::move(entry), std::move(plans), source);
}

} // namespace

std::string storePlan(const CompiledModule &compiled, Isa isa) {
  std::string stored = storeModule(compiled, isa);
  return stored.empty() ? stored : std::string(1, static_cast<char>(StoredKind::Plan)) + stored;
}

std::string storeProcesses(ProcessCounts processes, std::span<const std::string> plans, Isa isa) {
  PlanWriter writer = begin(StoredKind::Processes, processes, isa);
  writer.put(std::vector<std::string>(plans.begin(), plans.end()));
  return writer.take();
}

std::string storeSizes(const interpreter::EntryPoint &entry, ProcessCounts processes,
                       const std::vector<SizedPlan> &plans, Isa isa) {
  if (!canStore())
    return {};
  PlanWriter writer = begin(StoredKind::Sizes, processes, isa);
  writer.put(entry);
  writer.put(plans);
  return writer.take();
}

Result<std::unique_ptr<const Program>> loadProgram(std::string_view stored, const ProgramSource &source) {
  PlanReader reader(stored, source.target.isa);
  StoredKind kind = StoredKind::Plan;
  reader.get(kind);
  if (reader.hasFailed())
    return refused(reader);
  if (kind == StoredKind::Plan) { // of one process
    if (!areEqual(source.target.processes, {}))
      return nullptr;
    return loadPlan(stored, source);
  }
  bool isOurs = takeBeginning(reader, source);
  if (reader.hasFailed())
    return refused(reader);
  if (!isOurs)
    return nullptr;
  if (kind == StoredKind::Sizes)
    return loadSizes(reader, source);
  return loadProcesses(reader, source);
}

} // namespace torchere::cpu
