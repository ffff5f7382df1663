// Fuzz target of the CPU engine's reader of stored executables: what it accepts is planned, and stored as it
// was.
#include "fuzz_target.h"

#include "cpu/plugin/api.h"

#include <cstdlib>
#include <cstring>
#include <string_view>

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

/// Static, of open sizes, and with a loop on a donated argument.
const char *const programs[] = {
    R"(func.func @main(%x: tensor<4x3xf32>, %w: tensor<3x5xf32>) -> tensor<4x5xf32> {
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
      %1 = stablehlo.tanh %0 : tensor<4x5xf32>
      return %1 : tensor<4x5xf32>
    })",
    R"(func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
      %0 = stablehlo.exponential %x : tensor<?x3xf32>
      return %0 : tensor<?x3xf32>
    })",
    R"(func.func @main(%x: tensor<6xf32> {tf.aliasing_output = 0 : i32}, %n: tensor<i32>) -> tensor<6xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<6xf32> cond {
        %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %j = stablehlo.add %i, %one : tensor<i32>
        %s = stablehlo.add %v, %v : tensor<6xf32>
        stablehlo.return %j, %s : tensor<i32>, tensor<6xf32>
      }
      return %r#1 : tensor<6xf32>
    })",
};

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

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char *>(data), size);
  pjrt::ExecutableDeserializeAndLoadArgs args;
  args.client = client();
  args.bytes = bytes.data();
  args.byteSize = bytes.size();
  if (!isOk(api().executableDeserializeAndLoad(&args)))
    return 0;
  if (serialized(args.executable) != bytes)
    std::abort();
  destroy(args.executable);
  return 0;
}

std::vector<std::string> fuzzSeeds() {
  std::vector<std::string> seeds;
  for (const char *program : programs) {
    pjrt::LoadedExecutable *executable = compile(program, "");
    if (!executable)
      std::abort();
    seeds.push_back(serialized(executable));
    destroy(executable);
  }
  return seeds;
}
