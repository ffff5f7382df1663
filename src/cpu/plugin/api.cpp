// Implements the engine behind the plugin's table.
#include "cpu/plugin/api.h"

#include "base/log.h"
#include "cpu/kernels/float_environment.h"
#include "cpu/plugin/stored_program.h"
#include "cpu/plugin/thread_clock.h"
#include "pjrt_server/api.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <sched.h>

namespace torchere::cpu {

namespace {

/// The processors that this process may use.
int processorCount() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return 1;
  return std::max(1, CPU_COUNT(&set));
}

/// One pool for all programs with as many threads: programs that run at once share it.
ThreadPool &poolOf(int64_t threads) {
  // Leaked on purpose: its threads may outlive static destructors.
  static auto &mutex = *new std::mutex;
  static auto &pools = *new std::map<int, std::unique_ptr<ThreadPool>>;
  int count = threads > 0 ? static_cast<int>(threads) : processorCount();
  std::lock_guard lock(mutex);
  std::unique_ptr<ThreadPool> &pool = pools[count];
  if (!pool)
    pool = std::make_unique<ThreadPool>(count);
  return *pool;
}

Result<ProgramSource> sourceOf(std::string_view code, const pjrt::CompileOptions &options,
                               const pjrt_server::ClientOptions &clientOptions) {
  Target target;
  TORCHERE_ASSIGN(target.isa, chosenIsa());
  target.processes = {options.replicaCount, options.partitionCount};
  return ProgramSource{code, target, Context{poolOf(clientOptions.intraOpThreads), target.isa},
                       std::make_shared<PlanFamily>(PackedStore::choose(clientOptions))};
}

Result<std::unique_ptr<const pjrt_server::Program>> compile(std::string_view code,
                                                            const pjrt::CompileOptions &options,
                                                            const pjrt_server::ClientOptions &clientOptions) {
  StandardFloats floats; // constants are folded, and tables made, as kernels compute
  TORCHERE_ASSIGN(ProgramSource source, sourceOf(code, options, clientOptions));
  ThreadClock clock;
  TORCHERE_ASSIGN(stablehlo::Module module, readModule(code));
  TORCHERE_LOG_LINE(Debug, "cpu", "{} bytes of a program read in {:.2f} ms", code.size(),
                    clock.milliseconds());
  TORCHERE_ASSIGN(interpreter::EntryPoint entry,
                  interpreter::describeEntry(module, interpreter::OpenSizes::Allowed));
  if (entry.isOpen())
    return std::make_unique<const OpenProgram>(OpenModule(std::move(module), std::move(entry), source.target),
                                               source.context, std::move(source.family));
  std::optional<stablehlo::Module> first(std::move(module));
  auto read = [&](ModuleUse) -> Result<stablehlo::Module> {
    if (!first)
      return readModule(code);
    stablehlo::Module given = *std::exchange(first, std::nullopt);
    return given;
  };
  return compileProgram(read, source.target, source.context, source.family);
}

Result<std::unique_ptr<const pjrt_server::Program>> load(std::string_view stored, std::string_view code,
                                                         const pjrt::CompileOptions &options,
                                                         const pjrt_server::ClientOptions &clientOptions) {
  StandardFloats floats;
  TORCHERE_ASSIGN(ProgramSource source, sourceOf(code, options, clientOptions));
  return loadProgram(stored, source);
}

constexpr pjrt_server::Engine engine = [] {
  pjrt_server::Engine made;
  made.platform = "torchere_cpu";
  made.deviceName = "TorchereCpu";
  made.stored = "torchere cpu executable 3\n";
  made.isAsynchronous = false; // a switch of threads costs more than a small program
  made.takesOptions = true;
  made.knowsWeights = true;
  made.hasProfiles = true;
  made.compile = compile;
  made.load = load;
  return made;
}();

} // namespace

const pjrt::Api *api() {
  return pjrt_server::apiOf<engine>();
}

} // namespace torchere::cpu
