// What the interpreter's plugin answers to wrong arguments, and to functions that it does not have.
#include "../pjrt_server/raw_client.h"

namespace torchere::pjrt_server {
namespace {

constexpr const char *adding = R"(
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %y : tensor<2xf32>
  return %0 : tensor<2xf32>
})";

TEST(Arguments, NoStructureIsNull) {
#define TORCHERE_CHECK_NULL(member, Args, name)                                                              \
  EXPECT_EQ(take(pluginApi()->member(nullptr)), Answer(3, "[" name "] no structure of arguments: got "       \
                                                          "null"));
  TORCHERE_PJRT_FUNCTIONS(TORCHERE_CHECK_NULL)
#undef TORCHERE_CHECK_NULL
}

TEST(Arguments, NoHandleIsNull) {
  pjrt::ClientDevicesArgs devices;
  EXPECT_EQ(call(&pjrt::Api::clientDevices, devices), Answer(3, "[PJRT_Client_Devices] no client: got null"));
  pjrt::ClientCompileArgs compile;
  EXPECT_EQ(call(&pjrt::Api::clientCompile, compile), Answer(3, "[PJRT_Client_Compile] no client: got null"));
  pjrt::BufferDimensionsArgs dimensions;
  EXPECT_EQ(call(&pjrt::Api::bufferDimensions, dimensions),
            Answer(3, "[PJRT_Buffer_Dimensions] no buffer: got null"));
  pjrt::LoadedExecutableExecuteArgs execute;
  EXPECT_EQ(call(&pjrt::Api::loadedExecutableExecute, execute),
            Answer(3, "[PJRT_LoadedExecutable_Execute] no executable: got null"));
  pjrt::DeviceDescriptionIdArgs id;
  EXPECT_EQ(call(&pjrt::Api::deviceDescriptionId, id),
            Answer(3, "[PJRT_DeviceDescription_Id] no device description: got null"));
  pjrt::BufferDestroyArgs destroy; // as free() does
  EXPECT_EQ(call(&pjrt::Api::bufferDestroy, destroy), ok);
}

TEST(Arguments, FunctionsThatAreNotThereSayTheirNames) {
  pjrt::ExecutableGetCostAnalysisArgs cost;
  EXPECT_EQ(call(&pjrt::Api::executableGetCostAnalysis, cost),
            Answer(12, "[PJRT_Executable_GetCostAnalysis] the plugin does not have this function"));
}

Answer createWith(const std::string &name, pjrt::NamedValueType type, int64_t value) {
  pjrt::NamedValue option;
  option.name = name.data();
  option.nameSize = name.size();
  option.type = type;
  option.int64 = value;
  pjrt::ClientCreateArgs args;
  args.options = &option;
  args.optionCount = 1;
  return call(&pjrt::Api::clientCreate, args);
}

TEST(Arguments, OptionsOfTheClient) {
  EXPECT_EQ(
      createWith("colour", pjrt::NamedValueType::Int64, 1),
      Answer(3,
             "[PJRT_Client_Create] no such option of the interpreter: got 'colour', expected device_count"));
  EXPECT_EQ(createWith("device_count", pjrt::NamedValueType::Bool, 1),
            Answer(3, "[device_count] wrong type of option: expected an integer"));
  for (int64_t count : {-1, 0, 1025})
    EXPECT_EQ(createWith("device_count", pjrt::NamedValueType::Int64, count),
              Answer(3, fmt::format("[device_count] out of range: got {}, expected 1 to 1024", count)));
}

TEST(Arguments, Programs) {
  RawClient client;
  ExecutablePointer executable;
  EXPECT_EQ(client.compile(adding, executable, optionsFor(1), "hlo"),
            Answer(12, "[PJRT_Client_Compile] a program in the format 'hlo', expected 'mlir'"));
  Answer wrong = client.compile("func.func @main(", executable);
  EXPECT_EQ(wrong.first, 3);
  EXPECT_TRUE(wrong.second.starts_with("[program] not a valid StableHLO module: ")) << wrong.second;
  EXPECT_EQ(client.compile("ML\xefRgarbage", executable).first, 3); // an artifact's first bytes
  EXPECT_EQ(client.compile(adding, executable, "\x1a"),
            Answer(3, "[compile options] malformed: expected a CompileOptionsProto"));
  EXPECT_EQ(
      client.compile("func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> }",
                     executable),
      Answer(12,
             "[main] argument 0 is a tensor<?xf32>, expected sizes that are known: refine its shapes first"));
  EXPECT_EQ(client.compile("func.func @main(%x: !stablehlo.token) { return }", executable),
            Answer(12, "[main] argument 0 is a !stablehlo.token, expected a tensor"));
  EXPECT_EQ(client.compile("func.func @main(%x: tensor<f32> {tf.aliasing_output = 1 : i32}) -> tensor<f32> { "
                           "return %x : tensor<f32> }",
                           executable),
            Answer(3, "[main] argument 0 aliases result 1 of 1"));
  EXPECT_EQ(
      client.compile("func.func @main(%x: tensor<i32> {tf.aliasing_output = 0 : i32}, %y: tensor<f32>) -> "
                     "tensor<f32> { return %y : tensor<f32> }",
                     executable),
      Answer(3, "[main] argument 0 is a tensor<i32> and aliases result 0, a tensor<f32>"));
  EXPECT_EQ(client.compile("func.func @a() { return } func.func @b() { return }", executable),
            Answer(5, "[interpret] the module has 2 functions and none is called main"));
  EXPECT_EQ(executable, nullptr);
}

TEST(Arguments, OfExecutions) {
  RawClient client, other;
  ExecutablePointer executable = client.compile(adding);
  BufferPointer x = client.floats({1, 2}, {2});
  EXPECT_EQ(execute(executable, {{x}}).answer,
            Answer(3, "[main] wrong number of arguments: got 1, expected 2"));
  EXPECT_EQ(execute(executable, {{x, nullptr}}).answer, Answer(3, "[main] argument 1: no buffer: got null"));
  EXPECT_EQ(execute(executable, {{x, client.floats({1, 2, 3}, {3})}}).answer,
            Answer(3, "[main] argument 1: got a tensor<3xf32>, expected a tensor<2xf32>"));
  EXPECT_EQ(execute(executable, {{x, other.floats({1, 2}, {2})}}).answer,
            Answer(3, "[main] argument 1: a buffer of another client"));
  pjrt::LoadedExecutableExecuteArgs args;
  args.executable = executable.get();
  args.deviceCount = 1;
  args.argumentCount = 2;
  EXPECT_EQ(call(&pjrt::Api::loadedExecutableExecute, args),
            Answer(3, "[main] no list of arguments: got null"));
  pjrt::ExecuteOptions options;
  options.structSize = 40;
  args.options = &options;
  EXPECT_EQ(
      call(&pjrt::Api::loadedExecutableExecute, args),
      Answer(3, "[PJRT_LoadedExecutable_Execute] structure of arguments too short: got 40 bytes, expected at "
                "least 72"));
  pjrt::LoadedExecutableDeleteArgs remove;
  remove.executable = executable.get();
  ASSERT_EQ(call(&pjrt::Api::loadedExecutableDelete, remove), ok);
  EXPECT_EQ(execute(executable, {{x, x}}).answer, Answer(3, "[main] the executable was deleted"));
}

TEST(Arguments, OfBuffers) {
  RawClient client;
  float value = 1;
  const int64_t shape[] = {-1};
  pjrt::ClientBufferFromHostBufferArgs args;
  args.client = client.handle();
  args.data = &value;
  args.type = pjrt::BufferType::Token;
  EXPECT_EQ(call(&pjrt::Api::clientBufferFromHostBuffer, args),
            Answer(12, "[PJRT_Client_BufferFromHostBuffer] buffers of tokens: expected an element type"));
  args.type = static_cast<pjrt::BufferType>(99);
  EXPECT_EQ(call(&pjrt::Api::clientBufferFromHostBuffer, args),
            Answer(3, "[PJRT_Client_BufferFromHostBuffer] no such element type: got 99"));
  args.type = pjrt::BufferType::F32;
  args.dimensionCount = 1;
  EXPECT_EQ(call(&pjrt::Api::clientBufferFromHostBuffer, args),
            Answer(3, "[PJRT_Client_BufferFromHostBuffer] no dimensions: got null"));
  args.dimensions = shape;
  EXPECT_EQ(call(&pjrt::Api::clientBufferFromHostBuffer, args),
            Answer(3, "[PJRT_Client_BufferFromHostBuffer] a tensor cannot have the size -1"));
  const int64_t huge[] = {int64_t(1) << 60};
  args.dimensions = huge;
  EXPECT_EQ(call(&pjrt::Api::clientBufferFromHostBuffer, args),
            Answer(8, "[PJRT_Client_BufferFromHostBuffer] no memory for a tensor<1152921504606846976xf32>"));
  BufferPointer x = client.floats({1, 2}, {2});
  pjrt::BufferToHostBufferArgs copy;
  copy.source = x.get();
  copy.destination = &value;
  copy.destinationSize = 4;
  EXPECT_EQ(call(&pjrt::Api::bufferToHostBuffer, copy),
            Answer(3, "[PJRT_Buffer_ToHostBuffer] destination too small: got 4 bytes, expected at least 8"));
}

} // namespace
} // namespace torchere::pjrt_server
