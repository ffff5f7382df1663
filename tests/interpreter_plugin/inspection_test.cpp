// What the interpreter's plugin tells of itself, its devices and its executables; executables that are
// stored.
#include "../pjrt_server/raw_client.h"

#include "pjrt/compile_options.h"
#include "vhlo/portable_artifact.h"

#include <map>

namespace torchere::pjrt_server {
namespace {

TEST(Plugin, SaysWhatItReads) {
  pjrt::PluginAttributesArgs args;
  ASSERT_EQ(call(&pjrt::Api::pluginAttributes, args), ok);
  std::map<std::string, std::vector<int64_t>> versions;
  for (size_t index = 0; index < args.count; ++index) {
    const pjrt::NamedValue &attribute = args.attributes[index];
    ASSERT_EQ(attribute.type, pjrt::NamedValueType::Int64List);
    versions[std::string(attribute.name, attribute.nameSize)].assign(
        attribute.int64List, attribute.int64List + attribute.valueSize);
  }
  vhlo::Version current = vhlo::currentVersion;
  EXPECT_EQ(versions["stablehlo_current_version"],
            (std::vector<int64_t>{current.major, current.minor, current.patch}));
  EXPECT_EQ(versions["stablehlo_minimum_version"], (std::vector<int64_t>{0, 9, 0}));
}

TEST(Devices, EachHasAMemory) {
  RawClient client(2);
  pjrt::ClientAddressableDevicesArgs devices;
  devices.client = client.handle();
  ASSERT_EQ(call(&pjrt::Api::clientAddressableDevices, devices), ok);
  ASSERT_EQ(devices.count, 2u);
  for (int id = 0; id < 2; ++id) {
    pjrt::ClientLookupDeviceArgs found;
    found.client = client.handle();
    found.id = id;
    ASSERT_EQ(call(&pjrt::Api::clientLookupDevice, found), ok);
    EXPECT_EQ(found.device, devices.devices[id]);
    pjrt::DeviceGetDescriptionArgs description;
    description.device = found.device;
    ASSERT_EQ(call(&pjrt::Api::deviceGetDescription, description), ok);
    pjrt::DeviceDescriptionToStringArgs text;
    text.description = description.description;
    ASSERT_EQ(call(&pjrt::Api::deviceDescriptionToString, text), ok);
    EXPECT_EQ(std::string(text.text, text.textSize), fmt::format("InterpreterDevice(id={})", id));
    pjrt::DeviceDefaultMemoryArgs memory;
    memory.device = found.device;
    ASSERT_EQ(call(&pjrt::Api::deviceDefaultMemory, memory), ok);
    pjrt::MemoryAddressableByDevicesArgs owners;
    owners.memory = memory.memory;
    ASSERT_EQ(call(&pjrt::Api::memoryAddressableByDevices, owners), ok);
    ASSERT_EQ(owners.count, 1u);
    EXPECT_EQ(owners.devices[0], found.device);
  }
  pjrt::ClientLookupDeviceArgs missing;
  missing.client = client.handle();
  missing.id = 2;
  EXPECT_EQ(call(&pjrt::Api::clientLookupDevice, missing),
            Answer(5, "[PJRT_Client_LookupDevice] no such device: got 2, expected 0 to 1"));
}

TEST(Devices, BuffersAreCopiedBetweenThem) {
  RawClient client(2);
  BufferPointer x = client.floats({1, 2}, {2}, 0);
  pjrt::BufferCopyToDeviceArgs args;
  args.buffer = x.get();
  args.device = client.device(1);
  ASSERT_EQ(call(&pjrt::Api::bufferCopyToDevice, args), ok);
  BufferPointer copy = own(args.copy);
  pjrt::BufferDeviceArgs where;
  where.buffer = copy.get();
  ASSERT_EQ(call(&pjrt::Api::bufferDevice, where), ok);
  EXPECT_EQ(where.device, client.device(1));
  EXPECT_EQ(floatsOf(copy), (std::vector<float>{1, 2}));
  EXPECT_NE(addressOf(copy), addressOf(x));
}

TEST(Layouts, HostMemoryLiesAsItLikes) {
  RawClient client;
  std::vector<float> columns = {1, 4, 2, 5, 3, 6}; // [[1, 2, 3], [4, 5, 6]], column by column
  const int64_t shape[] = {2, 3}, strides[] = {4, 8}, minorToMajor[] = {0, 1};
  pjrt::ClientBufferFromHostBufferArgs args;
  args.client = client.handle();
  args.data = columns.data();
  args.type = pjrt::BufferType::F32;
  args.dimensions = shape;
  args.dimensionCount = 2;
  args.byteStrides = strides;
  args.byteStrideCount = 2;
  ASSERT_EQ(call(&pjrt::Api::clientBufferFromHostBuffer, args), ok);
  own(args.doneWithHostBuffer);
  BufferPointer buffer = own(args.buffer);
  EXPECT_EQ(floatsOf(buffer), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  std::vector<float> back(6);
  pjrt::MemoryLayout layout;
  layout.tiled.minorToMajor = minorToMajor;
  layout.tiled.minorToMajorSize = 2;
  pjrt::BufferToHostBufferArgs copy;
  copy.source = buffer.get();
  copy.hostLayout = &layout;
  copy.destination = back.data();
  copy.destinationSize = 24;
  ASSERT_EQ(call(&pjrt::Api::bufferToHostBuffer, copy), ok);
  EXPECT_EQ(await(own(copy.event)), ok);
  EXPECT_EQ(back, columns);
  layout.tiled.tileCount = 1;
  EXPECT_EQ(call(&pjrt::Api::bufferToHostBuffer, copy),
            Answer(12, "[PJRT_Buffer_ToHostBuffer] a layout in tiles: expected a dense one"));
}

constexpr const char *program = R"(
func.func @main(%x: tensor<2xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<f64>) -> (tensor<2xf32>, tensor<i1>, tensor<3x1xbf16>) {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  %1 = stablehlo.constant dense<true> : tensor<i1>
  %2 = stablehlo.constant dense<1.0> : tensor<3x1xbf16>
  return %0, %1, %2 : tensor<2xf32>, tensor<i1>, tensor<3x1xbf16>
})";

std::shared_ptr<pjrt::Executable> inspect(const ExecutablePointer &executable) {
  pjrt::LoadedExecutableGetExecutableArgs get;
  get.loadedExecutable = executable.get();
  EXPECT_EQ(call(&pjrt::Api::loadedExecutableGetExecutable, get), ok);
  return owned(get.executable, &pjrt::Api::executableDestroy, &pjrt::ExecutableDestroyArgs::executable);
}

TEST(Executables, DescribeTheirResults) {
  RawClient client;
  auto executable = inspect(client.compile(program));
  pjrt::ExecutableOutputElementTypesArgs types;
  types.executable = executable.get();
  ASSERT_EQ(call(&pjrt::Api::executableOutputElementTypes, types), ok);
  EXPECT_EQ(
      std::vector<pjrt::BufferType>(types.types, types.types + types.count),
      (std::vector<pjrt::BufferType>{pjrt::BufferType::F32, pjrt::BufferType::Pred, pjrt::BufferType::BF16}));
  pjrt::ExecutableOutputDimensionsArgs dimensions;
  dimensions.executable = executable.get();
  ASSERT_EQ(call(&pjrt::Api::executableOutputDimensions, dimensions), ok);
  EXPECT_EQ(std::vector<size_t>(dimensions.ranks, dimensions.ranks + 3), (std::vector<size_t>{1, 0, 2}));
  EXPECT_EQ(std::vector<int64_t>(dimensions.dimensions, dimensions.dimensions + 3),
            (std::vector<int64_t>{2, 3, 1}));
  pjrt::ExecutableOutputMemoryKindsArgs kinds;
  kinds.executable = executable.get();
  ASSERT_EQ(call(&pjrt::Api::executableOutputMemoryKinds, kinds), ok);
  ASSERT_EQ(kinds.outputCount, 3u);
  EXPECT_EQ(std::string(kinds.kinds[2], kinds.kindSizes[2]), "device");
  pjrt::ExecutableGetCompiledMemoryStatsArgs memory;
  memory.executable = executable.get();
  ASSERT_EQ(call(&pjrt::Api::executableGetCompiledMemoryStats, memory), ok);
  EXPECT_EQ(memory.arguments, 16);
  EXPECT_EQ(memory.results, 15);
  EXPECT_EQ(memory.aliases, 8);
}

TEST(Executables, GiveTheirProgramBack) {
  RawClient client;
  auto executable = inspect(client.compile(program));
  pjrt::Program given;
  pjrt::ExecutableOptimizedProgramArgs args;
  args.executable = executable.get();
  args.program = &given;
  ASSERT_EQ(call(&pjrt::Api::executableOptimizedProgram, args), ok);
  std::string code(given.codeSize, ' ');
  given.code = code.data();
  ASSERT_EQ(call(&pjrt::Api::executableOptimizedProgram, args), ok);
  EXPECT_EQ(code, program);
  EXPECT_EQ(std::string(given.format, given.formatSize), "mlir");
  given.codeSize = 3;
  EXPECT_EQ(call(&pjrt::Api::executableOptimizedProgram, args),
            Answer(3, fmt::format("[PJRT_Executable_OptimizedProgram] memory for 3 bytes, expected for {}",
                                  code.size())));
}

std::string serialize(const ExecutablePointer &executable) {
  auto inspected = inspect(executable);
  pjrt::ExecutableSerializeArgs args;
  args.executable = inspected.get();
  EXPECT_EQ(call(&pjrt::Api::executableSerialize, args), ok);
  std::string bytes(args.bytes, args.byteSize);
  args.deleter(args.serialized);
  return bytes;
}

Answer load(const RawClient &client, const std::string &bytes, ExecutablePointer &executable) {
  pjrt::ExecutableDeserializeAndLoadArgs args;
  args.client = client.handle();
  args.bytes = bytes.data();
  args.byteSize = bytes.size();
  Answer answer = call(&pjrt::Api::executableDeserializeAndLoad, args);
  if (args.executable)
    executable = own(args.executable);
  return answer;
}

std::string fingerprint(const ExecutablePointer &executable) {
  auto inspected = inspect(executable);
  pjrt::ExecutableFingerprintArgs args;
  args.executable = inspected.get();
  EXPECT_EQ(call(&pjrt::Api::executableFingerprint, args), ok);
  return std::string(args.fingerprint, args.fingerprintSize);
}

constexpr const char *identifying = R"(
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<ui32>) {
  %0 = stablehlo.replica_id : tensor<ui32>
  return %x, %0 : tensor<2xf32>, tensor<ui32>
})";

TEST(Executables, AreStoredAndLoaded) {
  auto module = stablehlo::Module::parse(identifying);
  ASSERT_TRUE(module) << module.error().text();
  auto artifact = vhlo::serialize(*module);
  ASSERT_TRUE(artifact) << artifact.error().text();
  RawClient first(2), second(2);
  ExecutablePointer compiled = first.compile(*artifact, optionsFor(2)), loaded;
  std::string bytes = serialize(compiled);
  EXPECT_TRUE(bytes.ends_with(*artifact)); // the portable artifact itself
  ASSERT_EQ(load(second, bytes, loaded), ok);
  EXPECT_EQ(fingerprint(loaded), fingerprint(compiled));
  EXPECT_NE(fingerprint(loaded), fingerprint(second.compile(*artifact)));
  Launched run = execute(loaded, {{second.floats({1, 2}, {2}, 0)}, {second.floats({3, 4}, {2}, 1)}});
  ASSERT_EQ(run.answer, ok);
  EXPECT_EQ(floatsOf(run.results[1][0]), (std::vector<float>{3, 4}));
  EXPECT_EQ(*static_cast<const uint32_t *>(addressOf(run.results[1][1])), 1u);
}

TEST(Executables, DamagedOnesAreRefused) {
  RawClient client;
  ExecutablePointer loaded;
  std::string bytes = serialize(client.compile(program));
  for (const std::string &wrong : {std::string(), std::string("text"), bytes.substr(0, 33)})
    EXPECT_EQ(load(client, wrong, loaded),
              Answer(3, "[PJRT_Executable_DeserializeAndLoad] no stored executable of this interpreter"));
  EXPECT_EQ(
      load(client, bytes.substr(0, 45), loaded),
      Answer(3, "[PJRT_Executable_DeserializeAndLoad] a stored executable that was cut off: got 3 bytes of "
                "options, expected 6"));
  EXPECT_EQ(
      load(client, bytes.substr(0, 36), loaded).second,
      "[PJRT_Executable_DeserializeAndLoad] a stored executable that was cut off: got 2 bytes of options, "
      "expected 8");
  EXPECT_EQ(load(client, bytes + "xy", loaded).second,
            "[PJRT_Executable_DeserializeAndLoad] a stored executable with 2 bytes behind its end");
  EXPECT_EQ(load(client, bytes.substr(0, bytes.size() / 2), loaded).first, 3);
  EXPECT_EQ(loaded, nullptr);
}

TEST(Executables, SayWhereTheyRun) {
  RawClient client(3);
  std::string assigned = pjrt::serializeDeviceAssignment(2, 1, {2, 0});
  std::string options = "\x20\x02\x28\x01\x4a"; // replicas, partitions, the assignment
  options += static_cast<char>(assigned.size()) + assigned;
  options = "\x1a" + std::string(1, static_cast<char>(options.size())) + options;
  ExecutablePointer executable = client.compile(identifying, options);
  pjrt::LoadedExecutableAddressableDevicesArgs devices;
  devices.executable = executable.get();
  ASSERT_EQ(call(&pjrt::Api::loadedExecutableAddressableDevices, devices), ok);
  EXPECT_EQ(std::vector<pjrt::Device *>(devices.devices, devices.devices + devices.count),
            (std::vector<pjrt::Device *>{client.device(2), client.device(0)}));
  pjrt::LoadedExecutableGetDeviceAssignmentArgs assignment;
  assignment.executable = executable.get();
  ASSERT_EQ(call(&pjrt::Api::loadedExecutableGetDeviceAssignment, assignment), ok);
  EXPECT_EQ(std::string(assignment.bytes, assignment.byteSize), assigned);
  assignment.deleter(assignment.serialized);
}

} // namespace
} // namespace torchere::pjrt_server
