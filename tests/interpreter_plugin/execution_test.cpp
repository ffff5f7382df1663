// Executions on the interpreter's plugin: results that come later, errors that come with them, donation,
// processes.
#include "../pjrt_server/raw_client.h"

#include "interpreter_plugin/api.h"
#include "pjrt_server/buffer.h"

#include <ctime>
#include <latch>

namespace torchere::pjrt_server {

const pjrt::Api *pluginApi() {
  return interpreter_plugin::api();
}

namespace {

constexpr const char *doubling = R"(
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
})";

/// Holds the worker up until it is let go, so that nothing is ready before.
class HeldWorker {
public:
  explicit HeldWorker(const RawClient &client) {
    client.worker().add([latch = latch] { latch->wait(); });
  }
  ~HeldWorker() { release(); }
  HeldWorker(const HeldWorker &) = delete;
  void release() {
    if (!std::exchange(isReleased, true))
      latch->count_down();
  }

private:
  std::shared_ptr<std::latch> latch = std::make_shared<std::latch>(1);
  bool isReleased = false;
};

TEST(Execution, ResultsComeLater) {
  RawClient client;
  ExecutablePointer executable = client.compile(doubling);
  BufferPointer x = client.floats({1, 2}, {2});
  HeldWorker worker(client);
  Launched first = execute(executable, {{x}});
  ASSERT_EQ(first.answer, ok);
  BufferPointer doubled = first.results[0][0];
  Launched second = execute(executable, {{doubled}}); // of what is not there yet
  ASSERT_EQ(second.answer, ok);
  BufferPointer result = second.results[0][0];
  std::vector<float> values(2, -1);
  pjrt::BufferToHostBufferArgs copy;
  copy.source = result.get();
  copy.destination = values.data();
  copy.destinationSize = 8;
  ASSERT_EQ(call(&pjrt::Api::bufferToHostBuffer, copy), ok);
  EventPointer copied = own(copy.event);
  EXPECT_FALSE(isReady(first.complete[0]));
  EXPECT_FALSE(isReady(readyEvent(result)));
  EXPECT_FALSE(isReady(copied));
  pjrt::BufferDimensionsArgs dimensions; // known all the same
  dimensions.buffer = result.get();
  ASSERT_EQ(call(&pjrt::Api::bufferDimensions, dimensions), ok);
  EXPECT_EQ(std::vector<int64_t>(dimensions.dimensions, dimensions.dimensions + dimensions.count),
            std::vector<int64_t>{2});
  x.reset(); // the executions keep what they read
  worker.release();
  EXPECT_EQ(await(copied), ok);
  EXPECT_EQ(values, (std::vector<float>{4, 8}));
  EXPECT_TRUE(isReady(first.complete[0]));
  EXPECT_TRUE(isReady(readyEvent(result)));
}

/// As many elements as the argument says.
constexpr const char *counting = R"(
func.func @main(%x: tensor<1xf32>) -> tensor<?xf32> {
  %0 = stablehlo.convert %x : (tensor<1xf32>) -> tensor<1xi64>
  %1 = stablehlo.dynamic_iota %0, dim = 0 : (tensor<1xi64>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
})";

/// The sizes that the plugin reports, and its answer.
std::pair<Answer, std::vector<int64_t>> dimensionsOf(const BufferPointer &buffer) {
  pjrt::BufferDimensionsArgs args;
  args.buffer = buffer.get();
  Answer answer = call(&pjrt::Api::bufferDimensions, args);
  return {answer, {args.dimensions, args.dimensions + args.count}};
}

TEST(Execution, ResultsMayHaveSizesOfTheirOwn) {
  RawClient client;
  ExecutablePointer executable = client.compile(counting);
  for (int64_t count : {0, 2, 5}) {
    Launched run = execute(executable, {{client.floats({static_cast<float>(count)}, {1})}});
    ASSERT_EQ(run.answer, ok);
    BufferPointer result = run.results[0][0];
    EXPECT_EQ(dimensionsOf(result), std::pair(ok, std::vector<int64_t>{count})); // waits
    EXPECT_TRUE(isReady(readyEvent(result)));
    pjrt::BufferDynamicDimensionIndicesArgs unknown;
    unknown.buffer = result.get();
    ASSERT_EQ(call(&pjrt::Api::bufferDynamicDimensionIndices, unknown), ok);
    EXPECT_EQ(std::vector<size_t>(unknown.indices, unknown.indices + unknown.count), std::vector<size_t>{0});
    Launched next = execute(client.compile(doubling), {{result}});
    EXPECT_EQ(next.answer, count == 2 ? ok
                                      : Answer(3, fmt::format("[main] argument 0: got a tensor<{}xf32>, "
                                                              "expected a tensor<2xf32>",
                                                              count)));
  }
}

TEST(Execution, SizesFailWithTheResult) {
  RawClient client;
  Launched run = execute(client.compile(counting), {{client.floats({-1}, {1})}});
  ASSERT_EQ(run.answer, ok);
  auto [answer, sizes] = dimensionsOf(run.results[0][0]);
  EXPECT_EQ(answer.first, 3);
  EXPECT_NE(answer.second.find("[stablehlo.dynamic_iota] "), std::string::npos) << answer.second;
  EXPECT_TRUE(sizes.empty());
}

class HostMemory : public testing::TestWithParam<pjrt::HostBufferSemantics> {};

TEST_P(HostMemory, IsTheCallersAgainWhenTheEventSaysSo) {
  RawClient client;
  alignas(64) float values[] = {0, 1, 2};
  const int64_t shape[] = {2};
  pjrt::ClientBufferFromHostBufferArgs args;
  args.client = client.handle();
  args.data = values + 1; // which no buffer borrows
  args.type = pjrt::BufferType::F32;
  args.dimensions = shape;
  args.dimensionCount = 1;
  args.semantics = GetParam();
  HeldWorker worker(client);
  ASSERT_EQ(call(&pjrt::Api::clientBufferFromHostBuffer, args), ok);
  EventPointer done = own(args.doneWithHostBuffer);
  BufferPointer buffer = own(args.buffer);
  EXPECT_EQ(isReady(done), GetParam() == pjrt::HostBufferSemantics::ImmutableOnlyDuringCall);
  worker.release();
  EXPECT_EQ(await(done), ok);
  values[1] = 3;
  EXPECT_EQ(floatsOf(buffer), (std::vector<float>{1, 2}));
}

class LentMemory : public testing::TestWithParam<pjrt::HostBufferSemantics> {};

TEST_P(LentMemory, IsReadWhereItLies) {
  RawClient client;
  alignas(64) float values[] = {1, 2};
  const int64_t shape[] = {2};
  pjrt::ClientBufferFromHostBufferArgs args;
  args.client = client.handle();
  args.data = values;
  args.type = pjrt::BufferType::F32;
  args.dimensions = shape;
  args.dimensionCount = 1;
  args.semantics = GetParam();
  ASSERT_EQ(call(&pjrt::Api::clientBufferFromHostBuffer, args), ok);
  EventPointer done = own(args.doneWithHostBuffer);
  BufferPointer buffer = own(args.buffer);
  EXPECT_TRUE(isReady(readyEvent(buffer)));
  EXPECT_EQ(addressOf(buffer), values);
  Launched copy = execute(client.compile(doubling), {{buffer}});
  EXPECT_EQ(floatsOf(copy.results[0][0]), (std::vector<float>{2, 4}));
  EXPECT_FALSE(isReady(done));
  // A donated buffer's memory is written only if the caller allows it.
  ExecutablePointer executable = client.compile(R"(
func.func @main(%x: tensor<2xf32> {tf.aliasing_output = 0 : i32}) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
})");
  Launched donated = execute(executable, {{buffer}});
  ASSERT_EQ(donated.answer, ok);
  EXPECT_TRUE(isDeleted(buffer));
  EXPECT_EQ(floatsOf(donated.results[0][0]), (std::vector<float>{2, 4}));
  bool mayWrite = GetParam() == pjrt::HostBufferSemantics::MutableZeroCopy;
  EXPECT_EQ(addressOf(donated.results[0][0]) == values, mayWrite);
  EXPECT_EQ(values[1], mayWrite ? 4 : 2);
  EXPECT_EQ(await(donated.complete[0]), ok);
  EXPECT_EQ(isReady(done), !mayWrite); // the result has the memory
  donated.results.clear();
  EXPECT_EQ(await(done), ok);
}

INSTANTIATE_TEST_SUITE_P(Semantics, LentMemory,
                         testing::Values(pjrt::HostBufferSemantics::ImmutableZeroCopy,
                                         pjrt::HostBufferSemantics::MutableZeroCopy));

INSTANTIATE_TEST_SUITE_P(Semantics, HostMemory,
                         testing::Values(pjrt::HostBufferSemantics::ImmutableOnlyDuringCall,
                                         pjrt::HostBufferSemantics::ImmutableUntilTransferCompletes,
                                         pjrt::HostBufferSemantics::ImmutableZeroCopy,
                                         pjrt::HostBufferSemantics::MutableZeroCopy));

constexpr const char *failing = R"(
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = stablehlo.custom_call @nobody_has_it(%x) : (tensor<2xf32>) -> tensor<2xf32> loc("model.py":3:7)
  return %0, %x : tensor<2xf32>, tensor<2xf32>
})";

TEST(Execution, ErrorsComeThroughEvents) {
  RawClient client;
  Launched run = execute(client.compile(failing), {{client.floats({1, 2}, {2})}});
  ASSERT_EQ(run.answer, ok);
  Answer error = await(run.complete[0]);
  EXPECT_EQ(error.first, static_cast<int>(ErrorCode::NotFound));
  EXPECT_EQ(error.second,
            "[nobody_has_it] no kernel is registered for the custom call's target; at model.py:3:7");
  for (const BufferPointer &result : run.results[0]) {
    EXPECT_EQ(await(readyEvent(result)), error);
    std::vector<float> values;
    EXPECT_EQ(read(result, values), error);
    pjrt::BufferOpaqueDeviceMemoryDataPointerArgs address;
    address.buffer = result.get();
    EXPECT_EQ(call(&pjrt::Api::bufferOpaqueDeviceMemoryDataPointer, address), error);
  }
  Launched next = execute(client.compile(doubling), {{run.results[0][0]}}); // what comes of it fails with it
  ASSERT_EQ(next.answer, ok);
  EXPECT_EQ(await(next.complete[0]), error);
  std::vector<float> values;
  EXPECT_EQ(read(next.results[0][0], values), error);
}

TEST(Execution, OutlivesTheClient) {
  RawClient client;
  Launched run = execute(client.compile(doubling), {{client.floats({1, 2}, {2})}});
  client.destroy();
  EXPECT_EQ(floatsOf(run.results[0][0]), (std::vector<float>{2, 4}));
}

constexpr const char *donating = R"(
func.func @main(%state: tensor<2xf32> {tf.aliasing_output = 1 : i32}, %x: tensor<2xf32>, %scratch: tensor<2xf32> {jax.buffer_donor = true})
    -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = stablehlo.add %state, %x : tensor<2xf32>
  return %state, %0 : tensor<2xf32>, tensor<2xf32>
})";

TEST(Donation, ResultsLieInTheMemoryOfDonatedArguments) {
  RawClient client;
  ExecutablePointer executable = client.compile(donating);
  BufferPointer state = client.floats({1, 2}, {2}), x = client.floats({10, 20}, {2}),
                scratch = client.floats({0, 0}, {2});
  const void *memory = addressOf(state);
  Launched run = execute(executable, {{state, x, scratch}});
  ASSERT_EQ(run.answer, ok);
  EXPECT_TRUE(isDeleted(state));
  EXPECT_FALSE(isDeleted(x));
  EXPECT_TRUE(isDeleted(scratch));
  EXPECT_EQ(floatsOf(run.results[0][0]), (std::vector<float>{1, 2})); // the old state was returned before
  EXPECT_EQ(floatsOf(run.results[0][1]), (std::vector<float>{11, 22}));
  EXPECT_EQ(addressOf(run.results[0][1]), memory);
  std::vector<float> values;
  EXPECT_EQ(read(state, values), Answer(3, "[PJRT_Buffer_ToHostBuffer] the buffer was deleted or donated"));
  EXPECT_EQ(execute(executable, {{state, x, x}}).answer,
            Answer(3, "[main] argument 0: the buffer was deleted or donated"));
}

TEST(Donation, WhatIsKeptIsNotDonated) {
  RawClient client;
  ExecutablePointer executable = client.compile(donating);
  BufferPointer state = client.floats({1, 2}, {2}), x = client.floats({10, 20}, {2});
  Launched run = execute(executable, {{state, x, state}}, {0, 2});
  ASSERT_EQ(run.answer, ok);
  EXPECT_FALSE(isDeleted(state));
  EXPECT_EQ(floatsOf(state), (std::vector<float>{1, 2}));
  EXPECT_EQ(floatsOf(run.results[0][1]), (std::vector<float>{11, 22}));
  EXPECT_NE(addressOf(run.results[0][1]), addressOf(state));
}

TEST(Donation, MemoryThatOthersReadIsNotWritten) {
  RawClient client;
  ExecutablePointer executable = client.compile(donating);
  BufferPointer state = client.floats({1, 2}, {2}), x = client.floats({10, 20}, {2});
  const auto *memory = static_cast<const float *>(addressOf(state));
  pjrt::BufferIncreaseExternalReferenceCountArgs increase;
  increase.buffer = state.get();
  ASSERT_EQ(call(&pjrt::Api::bufferIncreaseExternalReferenceCount, increase), ok);
  Launched run = execute(executable, {{state, x, client.floats({0, 0}, {2})}});
  EXPECT_EQ(floatsOf(run.results[0][1]), (std::vector<float>{11, 22}));
  EXPECT_TRUE(isDeleted(state));
  EXPECT_EQ(memory[1], 2);
  EXPECT_NE(addressOf(run.results[0][1]), memory);
  pjrt::BufferDecreaseExternalReferenceCountArgs decrease;
  decrease.buffer = state.get();
  EXPECT_EQ(call(&pjrt::Api::bufferDecreaseExternalReferenceCount, decrease), ok);
  EXPECT_EQ(call(&pjrt::Api::bufferDecreaseExternalReferenceCount, decrease),
            Answer(3, "[PJRT_Buffer_DecreaseExternalReferenceCount] nobody has an external reference"));
}

TEST(Donation, ABufferIsNotDonatedTwice) {
  RawClient client;
  ExecutablePointer executable = client.compile(donating);
  BufferPointer x = client.floats({1, 2}, {2});
  EXPECT_EQ(execute(executable, {{x, x, client.floats({0, 0}, {2})}}).answer,
            Answer(3, "[main] argument 0: the buffer is donated and argument 1 as well"));
  EXPECT_EQ(execute(executable, {{x, client.floats({0, 0}, {2}), x}}).answer,
            Answer(3, "[main] argument 0: the buffer is donated and argument 2 as well"));
  EXPECT_EQ(execute(executable, {{client.floats({0, 0}, {2}), x, x}}).answer,
            Answer(3, "[main] argument 2: the buffer is donated and argument 1 as well"));
  EXPECT_FALSE(isDeleted(x)); // nothing has happened
}

TEST(Donation, ArraysInUseAreNotWritten) {
  RawClient client;
  ExecutablePointer executable = client.compile(donating);
  BufferPointer state = client.floats({1, 2}, {2}), x = client.floats({10, 20}, {2});
  const auto *memory = static_cast<const float *>(addressOf(state));
  auto use = held(state.get()).contents(); // as an execution and a copy have it
  Launched run = execute(executable, {{state, x, client.floats({0, 0}, {2})}});
  ASSERT_EQ(run.answer, ok);
  EXPECT_TRUE(isDeleted(state));
  BufferPointer next = run.results[0][1];
  EXPECT_EQ(floatsOf(next), (std::vector<float>{11, 22}));
  EXPECT_EQ(memory[1], 2);
  EXPECT_NE(addressOf(next), memory);
  use = {};
  memory = static_cast<const float *>(addressOf(next));
  EXPECT_EQ(floatsOf(execute(client.compile(doubling), {{next}}).results[0][0]),
            (std::vector<float>{22, 44})); // uses that have ended do not count
  run = execute(executable, {{next, x, client.floats({0, 0}, {2})}});
  EXPECT_EQ(floatsOf(run.results[0][1]), (std::vector<float>{21, 42}));
  EXPECT_EQ(addressOf(run.results[0][1]), memory);
}

/// Of this thread.
double processorSeconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// The worker does the rest.
TEST(Donation, ChecksOfManyArgumentsTakeLinearTime) {
  constexpr size_t count = 20'000;
  std::string arguments, names, types;
  for (size_t index = 0; index < count; ++index) {
    std::string separator = index ? ", " : "";
    arguments += fmt::format("{0}%a{1}: tensor<f32> {{tf.aliasing_output = {1} : i32}}", separator, index);
    names += fmt::format("{}%a{}", separator, index);
    types += separator + "tensor<f32>";
  }
  RawClient client;
  ExecutablePointer executable = client.compile(
      fmt::format("func.func @main({}) -> ({}) {{ return {} : {} }}", arguments, types, names, types));
  std::vector<BufferPointer> given;
  std::vector<int64_t> kept;
  for (size_t index = 0; index < count; ++index) {
    given.push_back(client.floats({static_cast<float>(index)}, {}));
    if (index % 2)
      kept.push_back(static_cast<int64_t>(index));
  }
  double begin = processorSeconds();
  Launched run = execute(executable, {given});
  ASSERT_LT(processorSeconds() - begin, 0.5); // several seconds for all pairs
  ASSERT_EQ(run.answer, ok);
  EXPECT_TRUE(isDeleted(given.back()));
  given = run.results[0];
  begin = processorSeconds();
  run = execute(executable, {given}, kept);
  ASSERT_LT(processorSeconds() - begin, 0.5);
  ASSERT_EQ(run.answer, ok);
  EXPECT_TRUE(isDeleted(given[count - 2]));
  EXPECT_FALSE(isDeleted(given[count - 1]));
  EXPECT_EQ(floatsOf(run.results[0][count - 1]), std::vector<float>{static_cast<float>(count - 1)});
}

/// Result 0 is the sum over all replicas, result 1 the replica's number.
constexpr const char *summing = R"(
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<ui32>) {
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = stablehlo.replica_id : tensor<ui32>
  return %0, %1 : tensor<2xf32>, tensor<ui32>
})";

TEST(Processes, RunOnADeviceEach) {
  RawClient client(3);
  ExecutablePointer executable = client.compile(summing, optionsFor(3));
  Launched run = execute(executable, {{client.floats({1, 2}, {2}, 0)},
                                      {client.floats({10, 20}, {2}, 1)},
                                      {client.floats({100, 200}, {2}, 2)}});
  ASSERT_EQ(run.answer, ok);
  for (size_t device = 0; device < 3; ++device) {
    EXPECT_EQ(await(run.complete[device]), ok);
    EXPECT_EQ(floatsOf(run.results[device][0]), (std::vector<float>{111, 222}));
    EXPECT_EQ(*static_cast<const uint32_t *>(addressOf(run.results[device][1])), device);
    pjrt::BufferDeviceArgs where;
    where.buffer = run.results[device][0].get();
    ASSERT_EQ(call(&pjrt::Api::bufferDevice, where), ok);
    EXPECT_EQ(where.device, client.device(device));
  }
}

TEST(Processes, AreCheckedOneByOne) {
  RawClient client(3);
  ExecutablePointer executable = client.compile(summing, optionsFor(3));
  BufferPointer first = client.floats({1, 2}, {2}, 0), second = client.floats({1, 2}, {2}, 1);
  EXPECT_EQ(execute(executable, {{first}, {second}, {second}}).answer,
            Answer(3, "[main] argument 0 of process 2: got a buffer on device 1, expected one on device 2"));
  EXPECT_EQ(execute(executable, {{first}, {second}}).answer,
            Answer(3, "[main] wrong number of devices: got 2, expected 3"));
  ExecutablePointer none;
  EXPECT_EQ(client.compile(summing, none, optionsFor(4)),
            Answer(3, "[PJRT_Client_Compile] 4 replicas of 1 partitions for 3 devices"));
}

TEST(Processes, OfWhichOneFailsFailAll) {
  RawClient client(2);
  ExecutablePointer executable = client.compile(summing, optionsFor(2)); // a group of three
  Launched run = execute(executable, {{client.floats({1, 2}, {2}, 0)}, {client.floats({1, 2}, {2}, 1)}});
  ASSERT_EQ(run.answer, ok);
  Answer error = await(run.complete[0]);
  EXPECT_EQ(error, await(run.complete[1]));
  EXPECT_EQ(error.first, static_cast<int>(ErrorCode::InvalidArgument));
  EXPECT_TRUE(error.second.starts_with(
      "[stablehlo.all_reduce] no process 2: the program runs on 2 replicas of 1 partitions"))
      << error.second;
}

TEST(Processes, AProgramWithShardingsIsNotPartitionedHere) {
  RawClient client(2);
  std::string text = R"(
func.func @main(%x: tensor<2xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) -> tensor<2xf32> {
  return %x : tensor<2xf32>
})";
  ExecutablePointer executable;
  EXPECT_EQ(client.compile(text, executable, optionsFor(1, 2)),
            Answer(12, "[main] a program with shardings for 2 partitions: expected one device, or a "
                       "program that is partitioned already"));
  EXPECT_EQ(client.compile(text, executable, optionsFor(1, 1)), ok);
}

} // namespace
} // namespace torchere::pjrt_server
