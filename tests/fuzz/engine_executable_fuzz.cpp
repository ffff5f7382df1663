// Fuzz target of the CPU engine's reader of stored executables, and of the plans in them: what it accepts is
// stored as it was, and runs in memory of its own. Inputs are executables, or plans behind a line of theirs,
// or changes to be made to a plan, so that most of it stays as it is. Plans are also those of open sizes and
// of several processes.
#include "engine_programs.h"
#include "fuzz_target.h"

#include "cpu/execute/stored_plan.h"
#include "cpu/plugin/api.h"
#include "cpu/plugin/stored_module.h"
#include "cpu/plugin/stored_program.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <set>
#include <string_view>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace torchere;

namespace {

const pjrt::Api &api() {
  return *cpu::api();
}

/// Whether there was no error.
bool isOk(pjrt::Error *error) {
  if (!error)
    return true;
  pjrt::ErrorMessageArgs message;
  message.error = error;
  api().errorMessage(&message);
  if (message.messageSize == 0)
    std::abort();
  pjrt::ErrorDestroyArgs destroy;
  destroy.error = error;
  api().errorDestroy(&destroy);
  return false;
}

pjrt::Client *client() {
  static pjrt::Client *const made = [] {
    static const char name[] = "device_count";
    pjrt::NamedValue devices;
    devices.name = name;
    devices.nameSize = std::strlen(name);
    devices.type = pjrt::NamedValueType::Int64;
    devices.int64 = 2;
    devices.valueSize = 1;
    pjrt::ClientCreateArgs args;
    args.options = &devices;
    args.optionCount = 1;
    if (!isOk(api().clientCreate(&args)))
      std::abort();
    return args.client;
  }();
  return made;
}

std::string serialized(pjrt::LoadedExecutable *executable) {
  pjrt::LoadedExecutableGetExecutableArgs get;
  get.loadedExecutable = executable;
  if (!isOk(api().loadedExecutableGetExecutable(&get)))
    std::abort();
  pjrt::ExecutableSerializeArgs args;
  args.executable = get.executable;
  if (!isOk(api().executableSerialize(&args)))
    std::abort();
  std::string bytes(args.bytes, args.byteSize);
  args.deleter(args.serialized);
  pjrt::ExecutableDestroyArgs destroy;
  destroy.executable = get.executable;
  isOk(api().executableDestroy(&destroy));
  return bytes;
}

void destroy(pjrt::LoadedExecutable *executable) {
  pjrt::LoadedExecutableDestroyArgs args;
  args.executable = executable;
  isOk(api().loadedExecutableDestroy(&args));
}

pjrt::LoadedExecutable *compile(std::string_view code, std::string_view options) {
  static constexpr std::string_view format = "mlir";
  pjrt::Program program;
  program.code = code.data();
  program.codeSize = code.size();
  program.format = format.data();
  program.formatSize = format.size();
  pjrt::ClientCompileArgs args;
  args.client = client();
  args.program = &program;
  args.compileOptions = options.data();
  args.compileOptionsSize = options.size();
  return isOk(api().clientCompile(&args)) ? args.executable : nullptr;
}

/// The parts of a stored executable, without their sizes: options, plan, program.
std::vector<std::string_view> partsOf(std::string_view bytes) {
  std::vector<std::string_view> parts;
  bytes.remove_prefix(bytes.find('\n') + 1);
  while (!bytes.empty()) {
    uint64_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof size);
    parts.push_back(bytes.substr(sizeof size, size));
    bytes.remove_prefix(sizeof size + size);
  }
  return parts;
}

constexpr std::string_view processesCode = R"(func.func @main(%x: tensor<4xi32>) -> tensor<2x4xi32> {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64,
    replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>} : (tensor<4xi32>) -> tensor<8xi32>
  %1 = stablehlo.reshape %0 : (tensor<8xi32>) -> tensor<2x4xi32>
  return %1 : tensor<2x4xi32>
})";
constexpr std::string_view openCode = R"(
func.func @main(%x: tensor<?x3xf32>, %w: tensor<3x2xf32> {torchere.weight = true}) -> tensor<?x2xf32> {
  %0 = stablehlo.multiply %w, %w : tensor<3x2xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0]
    : (tensor<?x3xf32>, tensor<3x2xf32>) -> tensor<?x2xf32>
  return %1 : tensor<?x2xf32>
})";

/// Where a program with so many replicas comes from; it computes in a pool that lasts.
cpu::ProgramSource sourceOf(std::string_view code, int64_t replicas) {
  static auto &pool = *new cpu::ThreadPool(1);
  cpu::Target target;
  target.isa = *cpu::chosenIsa();
  target.processes.replicas = replicas;
  return {code, target, {pool, target.isa}, std::make_shared<cpu::PlanFamily>()};
}

/// Of each open size.
constexpr int64_t boundSize = 3;

/// Whether both of its runs gave results.
bool runOnZeros(const pjrt_server::Program &program, size_t processes) {
  pjrt_server::ArgumentLists arguments(processes);
  std::vector<std::unique_ptr<Lifetime>> lifetimes;
  std::deque<interpreter::Tensor> tensors;
  for (std::vector<pjrt_server::Argument> &ofProcess : arguments)
    for (const interpreter::EntryArgument &argument : program.entry().arguments) {
      interpreter::Index shape = argument.type.shape;
      std::replace(shape.begin(), shape.end(), interpreter::unknownSize, boundSize);
      auto tensor = interpreter::Tensor::create(argument.type.elementType, shape);
      if (!tensor)
        return false;
      ofProcess.push_back({&tensors.emplace_back(*std::move(tensor)), true,
                           lifetimes.emplace_back(std::make_unique<Lifetime>()).get()});
    }
  return program.run(arguments) && program.run(arguments);
}

/// Programs of several processes, and of open sizes with the plans of one.
std::string storedProcesses() {
  cpu::ProgramSource source = sourceOf(processesCode, 2);
  auto program = cpu::compileProgram([](cpu::ModuleUse) { return cpu::readModule(processesCode); },
                                     source.target, source.context, source.family);
  if (!program || !runOnZeros(**program, 2))
    std::abort();
  return (*program)->stored();
}
std::string storedSizes() {
  auto module = cpu::readModule(openCode);
  auto entry = interpreter::describeEntry(*module, interpreter::OpenSizes::Allowed);
  cpu::ProgramSource source = sourceOf(openCode, 1);
  cpu::OpenProgram program(cpu::OpenModule(*std::move(module), *std::move(entry), source.target),
                           source.context);
  if (!runOnZeros(program, 1))
    std::abort();
  return program.stored();
}

/// Which nobody stores: a plan of open sizes in place of one for a size.
std::string nestedSizes() {
  auto entry = interpreter::describeEntry(*cpu::readModule(openCode), interpreter::OpenSizes::Allowed);
  return cpu::storeSizes(*entry, {}, {{{boundSize}, storedSizes()}}, *cpu::chosenIsa());
}

/// What a plan of this build begins with: its kind, and two texts with their sizes.
const std::string &header() {
  static const std::string made = [] {
    pjrt::LoadedExecutable *executable = compile(enginePrograms[0], "");
    std::string bytes = serialized(executable);
    destroy(executable);
    std::string_view plan = partsOf(bytes)[1];
    size_t end = 1;
    for (int text = 0; text < 2; ++text) {
      uint64_t size = 0;
      std::memcpy(&size, plan.data() + end, sizeof size);
      end += sizeof size + size;
    }
    return std::string(plan.substr(0, end));
  }();
  return made;
}

constexpr std::string_view planLine = "a plan\n", changesLine = "changes\n";

/// Those of the programs, without the header; the last two are of several processes, and of open sizes.
const std::vector<std::string> &plans() {
  static const std::vector<std::string> made = [] {
    std::vector<std::string> all;
    for (const char *program : enginePrograms) {
      pjrt::LoadedExecutable *executable = compile(program, "");
      std::string bytes = serialized(executable);
      destroy(executable);
      if (std::string_view plan = partsOf(bytes)[1]; !plan.empty())
        if (plan.starts_with(header()))
          all.emplace_back(plan.substr(header().size()));
    }
    for (const std::string &stored : {storedProcesses(), storedSizes()})
      all.push_back(stored.substr(header().size()));
    return all;
  }();
  return made;
}

/// A step that no plan has would never be changed.
void expectAllSteps() {
  std::set<const void *> found;
  auto add = [&](const cpu::Plan &plan) {
    for (const auto &[step, origin] : plan.origins)
      found.insert(step->storedClass());
  };
  for (size_t number = 0; number + 2 < plans().size(); ++number) { // the last two are made of such
    auto compiled = cpu::loadModule((header() + plans()[number]).substr(1), *cpu::chosenIsa());
    if (!compiled || !*compiled)
      std::abort();
    add(*(*compiled)->plan);
    if ((*compiled)->weights)
      add((*compiled)->weights->plan);
  }
  if (found.size() < cpu::storedClassCount() - 1) { // the seed of several processes alone has an exchange
    std::fprintf(stderr, "seeds: %zu kinds of steps, expected %zu\n", found.size() + 1,
                 cpu::storedClassCount());
    std::abort();
  }
}

/// Of the plan with that number, modulo how many there are.
char kindOf(size_t number) {
  size_t place = number % plans().size();
  return static_cast<char>(place + 2 < plans().size() ? 0 : place + 3 - plans().size());
}

/// The first byte names the plan; then each change is its place, in two bytes, what is done there, and a
/// number.
std::string changed(std::string_view changes) {
  auto byteAt = [&](size_t place) {
    return static_cast<uint8_t>(place < changes.size() ? changes[place] : 0);
  };
  std::string plan = plans()[byteAt(0) % plans().size()];
  for (size_t at = 1; at + 4 <= changes.size() && at <= 16; at += 4) {
    size_t place = (byteAt(at) | byteAt(at + 1) << 8) % plan.size();
    auto small = static_cast<int8_t>(byteAt(at + 3));
    if (byteAt(at + 2) % 4 == 0 || place + 8 > plan.size()) {
      plan[place] = static_cast<char>(small);
      continue;
    }
    uint64_t number = 0;
    std::memcpy(&number, plan.data() + place, sizeof number);
    if (byteAt(at + 2) % 4 == 1)
      number += static_cast<uint64_t>(int64_t(small));
    else if (byteAt(at + 2) % 4 == 2)
      number = static_cast<uint64_t>(int64_t(small));
    else
      number = uint64_t(1) << (byteAt(at + 3) % 64);
    std::memcpy(plan.data() + place, &number, sizeof number);
  }
  return plan;
}

/// In a process of its own, which ends if a loop does not. A signal is a step that touched other memory.
void run(const pjrt_server::Program &program, const cpu::ProgramSource &source) {
  pid_t child = fork();
  if (child < 0)
    return;
  if (child == 0) {
    for (int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM})
      std::signal(signal, SIG_DFL);
    itimerval limit{{0, 0}, {0, 200000}};
    setitimer(ITIMER_REAL, &limit, nullptr);
    try {
      runOnZeros(program, static_cast<size_t>(source.target.processes.replicas));
    } catch (const std::bad_alloc &) { // a wish for more memory than there is
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  bool isLate = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
  if (!isLate && (WIFSIGNALED(status) || WEXITSTATUS(status) != 0))
    std::abort();
}

/// The kind is the first byte of the header.
void loadPlan(char kind, std::string_view bytes) {
  std::string plan = header() + std::string(bytes);
  plan[0] = kind;
  cpu::ProgramSource source = sourceOf(kind == 2 ? openCode : processesCode, kind == 1 ? 2 : 1);
  auto program = cpu::loadProgram(plan, source);
  if (!program || !*program)
    return;
  if (std::string again = kind == 2 ? plan : (*program)->stored(); again != plan) {
    auto [before, after] = std::ranges::mismatch(plan, again);
    std::fprintf(stderr, "stored again, the plan differs from byte %td on, of %zu\n", before - plan.begin(),
                 plan.size());
    std::abort();
  }
  run(**program, source);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char *>(data), size);
  if (bytes.starts_with(planLine)) {
    bytes.remove_prefix(planLine.size());
    if (!bytes.empty())
      loadPlan(static_cast<char>(bytes[0] % 3), bytes.substr(1));
    return 0;
  }
  if (bytes.starts_with(changesLine)) {
    bytes.remove_prefix(changesLine.size());
    loadPlan(kindOf(bytes.empty() ? 0 : static_cast<uint8_t>(bytes[0])), changed(bytes));
    return 0;
  }
  pjrt::ExecutableDeserializeAndLoadArgs args;
  args.client = client();
  args.bytes = bytes.data();
  args.byteSize = bytes.size();
  if (!isOk(api().executableDeserializeAndLoad(&args)))
    return 0;
  std::vector<std::string_view> given = partsOf(bytes);
  std::string again = serialized(args.executable);
  for (size_t part : {0, 2}) // what is compiled again may be planned otherwise
    if (partsOf(again)[part] != given[part])
      std::abort();
  destroy(args.executable);
  return 0;
}

std::vector<std::string> fuzzSeeds() {
  setenv("TORCHERE_CPU_POISON", "buffers", 1); // each buffer ends at a protected page
  std::vector<std::string> seeds;
  for (const char *program : enginePrograms) {
    pjrt::LoadedExecutable *executable = compile(program, "");
    if (!executable)
      std::abort();
    seeds.push_back(serialized(executable));
    destroy(executable);
  }
  expectAllSteps();
  seeds.push_back(std::string(planLine) + '\2' + nestedSizes().substr(header().size()));
  for (size_t number = 0; number < plans().size(); ++number) {
    seeds.push_back(std::string(planLine) + kindOf(number) + plans()[number]);
    for (size_t copy = 0; copy < 16; ++copy) { // executables take longer
      std::string changes(1, static_cast<char>(number));
      for (size_t place = 0; place < 8; ++place)
        changes.push_back(static_cast<char>(37 * place * copy + 11 * number));
      seeds.push_back(std::string(changesLine) + changes);
    }
  }
  return seeds;
}
