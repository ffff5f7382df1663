// BareProgram: a program in the plugin's own terms, to hold our own calls against. Nothing is checked,
// nothing shared, and the first error of the plugin ends the process: only the way without errors is timed.
#pragma once

#include "artifact/function_module.h"
#include "pjrt/element_type.h"
#include "runtime/client.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace torchere::bench {

/// Memory that an argument is read from where it lies.
struct Array {
  DType dtype;
  std::vector<int64_t> shape;
  std::shared_ptr<const void> memory;
};

/// Zeros, aligned as torch aligns them.
inline Array zeros(const program::TensorSignature &type) {
  Array array{type.dtype, {}, nullptr};
  size_t size = byteSize(type.dtype);
  for (program::SymInt extent : type.shape) {
    array.shape.push_back(extent.constant());
    size *= static_cast<size_t>(extent.constant());
  }
  std::shared_ptr<void> memory(std::aligned_alloc(64, (size / 64 + 1) * 64), std::free);
  std::memset(memory.get(), 0, size);
  array.memory = std::move(memory);
  return array;
}

inline void require(const runtime::Plugin &plugin, pjrt::Error *error) {
  if (!error)
    return;
  pjrt::ErrorMessageArgs args;
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

class BareProgram {
public:
  /// Of a function whose arguments are `arrays`.
  BareProgram(const runtime::Client &client, const artifact::Function &function, std::vector<Array> arrays)
      : client(client), plugin(client.plugin()), arrays(std::move(arrays)),
        outputCount(function.entryPoint.outputs.size()) {}

  void compile(const artifact::Function &function) {
    runtime::CompileOptions options;
    options.switches.emplace("xla_cpu_enable_fast_min_max", false);
    std::string wire = options.serialize();
    pjrt::Program program;
    std::string text = require(artifact::moduleText(function));
    program.code = text.data();
    program.codeSize = text.size();
    program.format = "mlir";
    program.formatSize = 4;
    pjrt::ClientCompileArgs args;
    args.client = client.handle();
    args.program = &program;
    args.compileOptions = wire.data();
    args.compileOptionsSize = wire.size();
    require(plugin, plugin.api().clientCompile(&args));
    executable = args.executable;
  }

  /// What was compiled before, from its bytes.
  void load(std::string_view bytes) {
    pjrt::ExecutableDeserializeAndLoadArgs args;
    args.client = client.handle();
    args.bytes = bytes.data();
    args.byteSize = bytes.size();
    require(plugin, plugin.api().executableDeserializeAndLoad(&args));
    executable = args.executable;
  }

  /// A call with new input buffers, as torch's tensors need them: made, executed, read by pointer, destroyed.
  void call() {
    std::vector<pjrt::Buffer *> buffers = makeInputs();
    execute(buffers);
    for (pjrt::Buffer *buffer : buffers)
      destroy(buffer);
  }
  /// Buffers of all arguments, on their memory.
  std::vector<pjrt::Buffer *> makeInputs() {
    std::vector<pjrt::Buffer *> buffers;
    for (const Array &array : arrays) {
      pjrt::ClientBufferFromHostBufferArgs args;
      args.client = client.handle();
      args.data = array.memory.get();
      args.type = *pjrt::bufferTypeOf(array.dtype);
      args.dimensions = array.shape.data();
      args.dimensionCount = array.shape.size();
      args.semantics = pjrt::HostBufferSemantics::ImmutableZeroCopy;
      args.device = client.devices().front().handle;
      require(plugin, plugin.api().clientBufferFromHostBuffer(&args));
      destroy(args.doneWithHostBuffer);
      buffers.push_back(args.buffer);
    }
    return buffers;
  }
  /// The execution alone, with the destruction of its results.
  void execute(std::vector<pjrt::Buffer *> &buffers) {
    std::vector<pjrt::Buffer *> results(outputCount);
    pjrt::Buffer *const *argumentList = buffers.data();
    pjrt::Buffer **resultList = results.data();
    pjrt::Event *complete = nullptr;
    pjrt::ExecuteOptions options;
    pjrt::LoadedExecutableExecuteArgs args;
    args.executable = executable;
    args.options = &options;
    args.argumentLists = &argumentList;
    args.deviceCount = 1;
    args.argumentCount = buffers.size();
    args.outputLists = &resultList;
    args.deviceCompleteEvents = &complete;
    require(plugin, plugin.api().loadedExecutableExecute(&args));
    pjrt::EventAwaitArgs await;
    await.event = complete;
    require(plugin, plugin.api().eventAwait(&await));
    destroy(complete);
    for (pjrt::Buffer *result : results) {
      pjrt::BufferOpaqueDeviceMemoryDataPointerArgs pointer;
      pointer.buffer = result;
      require(plugin, plugin.api().bufferOpaqueDeviceMemoryDataPointer(&pointer));
      destroy(result);
    }
  }

private:
  void destroy(pjrt::Event *event) { plugin.destroy(event); }
  void destroy(pjrt::Buffer *buffer) {
    pjrt::BufferDestroyArgs args;
    args.buffer = buffer;
    require(plugin, plugin.api().bufferDestroy(&args));
  }

  const runtime::Client &client;
  const runtime::Plugin &plugin;
  std::vector<Array> arrays;
  size_t outputCount;
  pjrt::LoadedExecutable *executable = nullptr;
};

} // namespace torchere::bench
