// RawClient: the plugin's functions as a client of another make calls them, with nothing between.
#pragma once

#include "pjrt_server/handles.h"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace torchere::pjrt_server {

/// The table of the plugin that the test program is linked with, which defines this.
const pjrt::Api *pluginApi();

/// Code and message of an error; {0, ""} for none.
using Answer = std::pair<int, std::string>;

inline Answer take(pjrt::Error *error) {
  if (!error)
    return {0, ""};
  pjrt::ErrorMessageArgs message;
  message.error = error;
  pluginApi()->errorMessage(&message);
  pjrt::ErrorGetCodeArgs code;
  code.error = error;
  EXPECT_EQ(pluginApi()->errorGetCode(&code), nullptr);
  Answer answer{code.code, std::string(message.message, message.messageSize)};
  pjrt::ErrorDestroyArgs destroy;
  destroy.error = error;
  pluginApi()->errorDestroy(&destroy);
  return answer;
}

/// Calls a function of the table; what it answers.
template <class Args> Answer call(pjrt::Function<Args> pjrt::Api::*function, Args &args) {
  return take((pluginApi()->*function)(&args));
}
inline const Answer ok{0, ""};

/// Destroys what the plugin made by the function `destroy`, whose argument is `member`.
template <class Handle, class Args>
std::shared_ptr<Handle> owned(Handle *handle, pjrt::Function<Args> pjrt::Api::*destroy,
                              Handle *Args::*member) {
  return std::shared_ptr<Handle>(handle, [destroy, member](Handle *held) {
    Args args;
    args.*member = held;
    EXPECT_EQ(call(destroy, args), ok);
  });
}

using EventPointer = std::shared_ptr<pjrt::Event>;
using BufferPointer = std::shared_ptr<pjrt::Buffer>;
using ExecutablePointer = std::shared_ptr<pjrt::LoadedExecutable>;

inline EventPointer own(pjrt::Event *event) {
  return owned(event, &pjrt::Api::eventDestroy, &pjrt::EventDestroyArgs::event);
}
inline BufferPointer own(pjrt::Buffer *buffer) {
  return owned(buffer, &pjrt::Api::bufferDestroy, &pjrt::BufferDestroyArgs::buffer);
}
inline ExecutablePointer own(pjrt::LoadedExecutable *executable) {
  return owned(executable, &pjrt::Api::loadedExecutableDestroy,
               &pjrt::LoadedExecutableDestroyArgs::executable);
}

inline Answer await(const EventPointer &event) {
  pjrt::EventAwaitArgs args;
  args.event = event.get();
  return call(&pjrt::Api::eventAwait, args);
}
inline bool isReady(const EventPointer &event) {
  pjrt::EventIsReadyArgs args;
  args.event = event.get();
  EXPECT_EQ(call(&pjrt::Api::eventIsReady, args), ok);
  return args.isReady;
}
inline EventPointer readyEvent(const BufferPointer &buffer) {
  pjrt::BufferReadyEventArgs args;
  args.buffer = buffer.get();
  EXPECT_EQ(call(&pjrt::Api::bufferReadyEvent, args), ok);
  return own(args.event);
}
inline bool isDeleted(const BufferPointer &buffer) {
  pjrt::BufferIsDeletedArgs args;
  args.buffer = buffer.get();
  EXPECT_EQ(call(&pjrt::Api::bufferIsDeleted, args), ok);
  return args.isDeleted;
}
inline const void *addressOf(const BufferPointer &buffer) {
  pjrt::BufferOpaqueDeviceMemoryDataPointerArgs args;
  args.buffer = buffer.get();
  EXPECT_EQ(call(&pjrt::Api::bufferOpaqueDeviceMemoryDataPointer, args), ok);
  return args.pointer;
}

/// The bytes of CompileOptionsProto for so many processes on the first devices.
inline std::string optionsFor(int replicas, int partitions = 1) {
  return {'\x1a', '\x04', '\x20', static_cast<char>(replicas), '\x28', static_cast<char>(partitions)};
}

/// What an execution gives.
struct Launched {
  Answer answer;
  std::vector<std::vector<BufferPointer>> results; ///< by device
  std::vector<EventPointer> complete;              ///< by device
};

class RawClient {
public:
  explicit RawClient(int64_t deviceCount = 1) : RawClient({option("device_count", deviceCount)}) {}
  explicit RawClient(const std::vector<pjrt::NamedValue> &options) {
    pjrt::ClientCreateArgs args;
    args.options = options.data();
    args.optionCount = options.size();
    EXPECT_EQ(call(&pjrt::Api::clientCreate, args), ok);
    client = owned(args.client, &pjrt::Api::clientDestroy, &pjrt::ClientDestroyArgs::client);
  }

  /// `name` must live as long as the option.
  static pjrt::NamedValue option(std::string_view name, int64_t value) {
    pjrt::NamedValue made = named(name, pjrt::NamedValueType::Int64);
    made.int64 = value;
    return made;
  }
  static pjrt::NamedValue option(std::string_view name, bool value) {
    pjrt::NamedValue made = named(name, pjrt::NamedValueType::Bool);
    made.boolean = value;
    return made;
  }

  pjrt::Client *handle() const { return client.get(); }
  void destroy() { client.reset(); }
  /// The plugin's own object, to hold up its worker.
  Worker &worker() const { return held(client.get())->worker; }
  pjrt::Device *device(size_t index) const { return held(client.get())->deviceHandles[index]; }

  BufferPointer floats(const std::vector<float> &values, std::vector<int64_t> shape,
                       size_t deviceIndex = 0) const {
    pjrt::ClientBufferFromHostBufferArgs args;
    args.client = client.get();
    args.data = values.data();
    args.type = pjrt::BufferType::F32;
    args.dimensions = shape.data();
    args.dimensionCount = shape.size();
    args.device = device(deviceIndex);
    EXPECT_EQ(call(&pjrt::Api::clientBufferFromHostBuffer, args), ok);
    own(args.doneWithHostBuffer);
    return own(args.buffer);
  }

  Answer compile(const std::string &text, ExecutablePointer &executable,
                 const std::string &options = optionsFor(1), const std::string &format = "mlir") const {
    pjrt::Program program;
    program.code = text.data();
    program.codeSize = text.size();
    program.format = format.data();
    program.formatSize = format.size();
    pjrt::ClientCompileArgs args;
    args.client = client.get();
    args.program = &program;
    args.compileOptions = options.data();
    args.compileOptionsSize = options.size();
    Answer answer = call(&pjrt::Api::clientCompile, args);
    if (args.executable)
      executable = own(args.executable);
    return answer;
  }
  ExecutablePointer compile(const std::string &text, const std::string &options = optionsFor(1)) const {
    ExecutablePointer executable;
    EXPECT_EQ(compile(text, executable, options), ok);
    return executable;
  }

private:
  static pjrt::NamedValue named(std::string_view name, pjrt::NamedValueType type) {
    pjrt::NamedValue made;
    made.name = name.data();
    made.nameSize = name.size();
    made.type = type;
    made.valueSize = 1;
    return made;
  }

  std::shared_ptr<pjrt::Client> client;
};

inline size_t outputCount(const ExecutablePointer &executable) {
  pjrt::LoadedExecutableGetExecutableArgs get;
  get.loadedExecutable = executable.get();
  EXPECT_EQ(call(&pjrt::Api::loadedExecutableGetExecutable, get), ok);
  auto inspected =
      owned(get.executable, &pjrt::Api::executableDestroy, &pjrt::ExecutableDestroyArgs::executable);
  pjrt::ExecutableNumOutputsArgs count;
  count.executable = inspected.get();
  EXPECT_EQ(call(&pjrt::Api::executableNumOutputs, count), ok);
  return count.count;
}

/// Executes on a device for each list of arguments.
inline Launched execute(const ExecutablePointer &executable,
                        const std::vector<std::vector<BufferPointer>> &arguments,
                        const std::vector<int64_t> &kept = {}) {
  size_t deviceCount = arguments.size(), outputs = outputCount(executable);
  std::vector<std::vector<pjrt::Buffer *>> handles(deviceCount);
  std::vector<std::vector<pjrt::Buffer *>> results(deviceCount, std::vector<pjrt::Buffer *>(outputs));
  std::vector<pjrt::Buffer *const *> argumentLists;
  std::vector<pjrt::Buffer **> resultLists;
  std::vector<pjrt::Event *> events(deviceCount);
  for (size_t device = 0; device < deviceCount; ++device) {
    for (const BufferPointer &argument : arguments[device])
      handles[device].push_back(argument.get());
    argumentLists.push_back(handles[device].data());
    resultLists.push_back(results[device].data());
  }
  pjrt::ExecuteOptions options;
  options.nonDonatableInputs = kept.data();
  options.nonDonatableInputCount = kept.size();
  pjrt::LoadedExecutableExecuteArgs args;
  args.executable = executable.get();
  args.options = &options;
  args.argumentLists = argumentLists.data();
  args.deviceCount = deviceCount;
  args.argumentCount = handles.empty() ? 0 : handles.front().size();
  args.outputLists = resultLists.data();
  args.deviceCompleteEvents = events.data();
  Launched run;
  run.answer = call(&pjrt::Api::loadedExecutableExecute, args);
  for (size_t device = 0; run.answer == ok && device < deviceCount; ++device) {
    run.complete.push_back(own(events[device]));
    run.results.emplace_back();
    for (pjrt::Buffer *result : results[device])
      run.results.back().push_back(own(result));
  }
  return run;
}

/// Copies floats to the host; the answer is that of the function or of its event.
inline Answer read(const BufferPointer &buffer, std::vector<float> &values) {
  pjrt::BufferToHostBufferArgs args;
  args.source = buffer.get();
  if (Answer answer = call(&pjrt::Api::bufferToHostBuffer, args); answer != ok)
    return answer;
  values.assign(args.destinationSize / sizeof(float), -1);
  args.destination = values.data();
  if (Answer answer = call(&pjrt::Api::bufferToHostBuffer, args); answer != ok)
    return answer;
  return await(own(args.event));
}
inline std::vector<float> floatsOf(const BufferPointer &buffer) {
  std::vector<float> values;
  EXPECT_EQ(read(buffer, values), ok);
  return values;
}

} // namespace torchere::pjrt_server
