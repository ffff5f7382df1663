// What a call costs in C++ beyond the plugin: Session::call against a bare loop over the plugin's own
// functions.
//   call_overhead DIR [REPEATS [CALLS]]
// DIR is a saved program whose inputs are tensors of constant shapes. Writes one JSON document: microseconds
// a call of each way, the best of the repeats and their median. The ways take turns, so that a busy machine
// slows all alike.
#include "artifact/bundle.h"
#include "artifact/function_module.h"
#include "base/json.h"
#include "runtime/discovery.h"
#include "runtime/element_type.h"
#include "session/session.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace torchere;
namespace abi = runtime::abi;

namespace {

/// The memory of an input, as torch aligns it.
struct Array {
  explicit Array(const program::TensorSignature &type) : dtype(type.dtype) {
    size_t size = byteSize(type.dtype);
    for (program::SymInt extent : type.shape) {
      shape.push_back(extent.constant());
      size *= static_cast<size_t>(extent.constant());
    }
    memory.reset(std::aligned_alloc(64, (size / 64 + 1) * 64));
    std::memset(memory.get(), 0, size);
  }
  DType dtype;
  std::vector<int64_t> shape;
  std::unique_ptr<void, decltype(&std::free)> memory{nullptr, std::free};
};

/// Ends the program with the plugin's word where a call of it fails: only the way without errors is timed.
void require(const runtime::Plugin &plugin, abi::Error *error) {
  if (!error)
    return;
  abi::ErrorMessageArgs args;
  args.error = error;
  plugin.api().errorMessage(&args);
  std::fprintf(stderr, "%.*s\n", static_cast<int>(args.messageSize), args.message);
  std::exit(1);
}

template <class T> T require(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().text().c_str());
    std::exit(1);
  }
  return *std::move(result);
}

/// The program in the plugin's own terms: nothing is checked, nothing shared.
class BareProgram {
public:
  BareProgram(const runtime::Client &client, const artifact::Function &function,
              const std::vector<Array> &arrays)
      : client(client), plugin(client.plugin()), arrays(arrays),
        outputCount(function.entryPoint.outputs.size()) {
    runtime::CompileOptions options;
    options.switches.emplace("xla_cpu_enable_fast_min_max", false);
    std::string wire = options.serialize();
    abi::Program program;
    std::string text = require(artifact::moduleText(function));
    program.code = text.data();
    program.codeSize = text.size();
    program.format = "mlir";
    program.formatSize = 4;
    abi::ClientCompileArgs args;
    args.client = client.handle();
    args.program = &program;
    args.compileOptions = wire.data();
    args.compileOptionsSize = wire.size();
    require(plugin, plugin.api().clientCompile(&args));
    executable = args.executable;
  }

  /// A call with new input buffers, as torch's tensors need them: made, executed, read by pointer, destroyed.
  void call() {
    std::vector<abi::Buffer *> buffers = makeInputs();
    execute(buffers);
    for (abi::Buffer *buffer : buffers)
      destroy(buffer);
  }
  std::vector<abi::Buffer *> makeInputs() {
    std::vector<abi::Buffer *> buffers;
    for (const Array &array : arrays) {
      abi::ClientBufferFromHostBufferArgs args;
      args.client = client.handle();
      args.data = array.memory.get();
      args.type = *runtime::bufferType(array.dtype);
      args.dimensions = array.shape.data();
      args.dimensionCount = array.shape.size();
      args.semantics = abi::HostBufferSemantics::ImmutableZeroCopy;
      args.device = client.devices().front().handle;
      require(plugin, plugin.api().clientBufferFromHostBuffer(&args));
      destroy(args.doneWithHostBuffer);
      buffers.push_back(args.buffer);
    }
    return buffers;
  }
  /// The execution alone, with the destruction of its results.
  void execute(std::vector<abi::Buffer *> &buffers) {
    std::vector<abi::Buffer *> results(outputCount);
    abi::Buffer *const *argumentList = buffers.data();
    abi::Buffer **resultList = results.data();
    abi::Event *complete = nullptr;
    abi::ExecuteOptions options;
    abi::LoadedExecutableExecuteArgs args;
    args.executable = executable;
    args.options = &options;
    args.argumentLists = &argumentList;
    args.deviceCount = 1;
    args.argumentCount = buffers.size();
    args.outputLists = &resultList;
    args.deviceCompleteEvents = &complete;
    require(plugin, plugin.api().loadedExecutableExecute(&args));
    abi::EventAwaitArgs await;
    await.event = complete;
    require(plugin, plugin.api().eventAwait(&await));
    destroy(complete);
    for (abi::Buffer *result : results) {
      abi::BufferOpaqueDeviceMemoryDataPointerArgs pointer;
      pointer.buffer = result;
      require(plugin, plugin.api().bufferOpaqueDeviceMemoryDataPointer(&pointer));
      destroy(result);
    }
  }

private:
  void destroy(abi::Event *event) { plugin.destroy(event); }
  void destroy(abi::Buffer *buffer) {
    abi::BufferDestroyArgs args;
    args.buffer = buffer;
    require(plugin, plugin.api().bufferDestroy(&args));
  }

  const runtime::Client &client;
  const runtime::Plugin &plugin;
  const std::vector<Array> &arrays;
  size_t outputCount;
  abi::LoadedExecutable *executable = nullptr;
};

} // namespace

static double microseconds(const std::function<void()> &call, int calls) {
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i)
    call();
  std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - start;
  return elapsed.count() / calls;
}

static OrderedJson measure(const std::vector<std::pair<std::string, std::function<void()>>> &ways,
                           int repeats, int calls) {
  std::map<std::string, std::vector<double>> times;
  for (int repeat = 0; repeat < repeats; ++repeat)
    for (const auto &[name, call] : ways)
      times[name].push_back(microseconds(call, calls));
  OrderedJson document;
  for (const auto &[name, call] : ways) {
    std::vector<double> &values = times[name];
    std::sort(values.begin(), values.end());
    document[name] = {{"best", values.front()}, {"median", values[values.size() / 2]}};
  }
  return document;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: call_overhead DIR [REPEATS [CALLS]]\n");
    return 2;
  }
  int repeats = argc > 2 ? std::max(std::atoi(argv[2]), 1) : 50;
  int calls = argc > 3 ? std::max(std::atoi(argv[3]), 1) : 2000;
  auto bundle = std::make_shared<const artifact::Bundle>(require(artifact::load(argv[1])));
  auto client = require(runtime::sharedClient());
  auto session = require(session::Session::create(client, bundle));
  const artifact::Function &function = bundle->functions.front();
  std::vector<Array> arrays;
  for (const program::EntryInput &input : function.entryPoint.inputs) {
    if (input.source != program::InputSource::UserInput) {
      std::fprintf(stderr, "[%s] a weight: expected a program whose inputs are all the user's\n",
                   input.name.c_str());
      return 1;
    }
    arrays.emplace_back(input.type);
  }
  std::vector<session::Input> inputs;
  for (const Array &array : arrays)
    inputs.emplace_back(
        session::TensorView{array.memory.get(), array.dtype, array.shape, {}, "cpu", nullptr});
  BareProgram bare(*client, function, arrays);
  std::vector<abi::Buffer *> kept = bare.makeInputs();
  OrderedJson document = measure({{"execution", [&] { bare.execute(kept); }},
                                  {"plugin", [&] { bare.call(); }},
                                  {"session", [&] { require(session->call(0, inputs)); }}},
                                 repeats, calls);
  std::printf("%s\n", printJson(document, 2).c_str());
  return 0;
}
