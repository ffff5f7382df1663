// Programs as stored executables hold them: those of open sizes with the plans of the sizes that were called,
// and those of several processes.
#include "cpu/plugin/stored_program.h"

#include "../../few_threads.h"

#include <algorithm>
#include <cstring>
#include <deque>

namespace torchere::cpu {
namespace {

using interpreter::Tensor;
using pjrt_server::ArgumentLists;
using pjrt_server::Program;

constexpr std::string_view openRows = R"(
func.func @main(%x: tensor<?x3xf32>, %w: tensor<3x2xf32> {torchere.weight = true}) -> tensor<?x2xf32> {
  %0 = stablehlo.multiply %w, %w : tensor<3x2xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0]
    : (tensor<?x3xf32>, tensor<3x2xf32>) -> tensor<?x2xf32>
  return %1 : tensor<?x2xf32>
})";

constexpr std::string_view twoProcesses = R"(
func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {
  %0 = "stablehlo.all_reduce"(%x) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
})";

constexpr std::string_view fourProcesses = R"(
func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {
  %0 = "stablehlo.all_reduce"(%x) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
  }) {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
})";

class StoredProgram : public testing::Test {
protected:
  ProgramSource source(std::string_view code, int64_t replicas = 1) {
    Target target;
    target.processes.replicas = replicas;
    return {code, target, {pool, Isa::Baseline}, std::make_shared<PlanFamily>()};
  }
  std::unique_ptr<const Program> open() {
    auto module = readModule(openRows);
    auto entry = interpreter::describeEntry(*module, interpreter::OpenSizes::Allowed);
    return std::make_unique<const OpenProgram>(OpenModule(*std::move(module), *std::move(entry), Target()),
                                               Context{pool, Isa::Baseline});
  }
  std::unique_ptr<const Program> inTwo() {
    ProgramSource from = source(twoProcesses, 2);
    auto program = compileProgram([&](ModuleUse) { return readModule(twoProcesses); }, from.target,
                                  from.context, from.family);
    EXPECT_TRUE(program) << program.error().text();
    return *std::move(program);
  }
  std::unique_ptr<const Program> load(std::string_view stored, const ProgramSource &from) {
    auto loaded = loadProgram(stored, from);
    EXPECT_TRUE(loaded) << loaded.error().text();
    return loaded ? *std::move(loaded) : nullptr;
  }
  /// The bits of the result, or the error; on `rows` rows.
  std::string call(const Program &program, int64_t rows) {
    ArgumentLists arguments(1);
    std::deque<Tensor> tensors;
    for (const interpreter::Index &shape : {interpreter::Index{rows, 3}, interpreter::Index{3, 2}}) {
      Tensor &tensor = tensors.emplace_back(*Tensor::create(ElementType::F32, shape));
      auto *numbers = reinterpret_cast<float *>(tensor.writableBytes().data());
      for (size_t i = 0; i < tensor.bytes().size() / sizeof(float); ++i)
        numbers[i] = arguments[0].empty() ? float(i % 5) - 1.5f : weight;
      arguments[0].push_back({&tensor, false, &lifetimes[arguments[0].size()]});
    }
    return bitsOf(program.run(arguments));
  }
  std::string callInTwo(const Program &program) { return callProcesses(program, 2); }
  std::string callProcesses(const Program &program, size_t count) {
    ArgumentLists arguments(count);
    std::deque<Tensor> tensors;
    for (std::vector<pjrt_server::Argument> &ofProcess : arguments) {
      Tensor &tensor = tensors.emplace_back(*Tensor::create(ElementType::I32, interpreter::Index{4}));
      std::ranges::fill(tensor.writableBytes(),
                        std::byte{static_cast<uint8_t>(&ofProcess - arguments.data() + 1)});
      ofProcess.push_back({&tensor, false, &lifetimes[0]});
    }
    return bitsOf(program.run(arguments));
  }

  ThreadPool pool{2};
  Lifetime lifetimes[2];
  float weight = 0.5f;

private:
  static std::string bitsOf(const Result<pjrt_server::ResultLists> &results) {
    if (!results)
      return results.error().message;
    std::string bits;
    for (const std::vector<Tensor> &ofProcess : *results)
      for (const Tensor &result : ofProcess)
        bits.append(reinterpret_cast<const char *>(result.bytes().data()), result.bytes().size());
    return bits;
  }
};

TEST_F(StoredProgram, HasThePlansOfSizesThatWereCalled) {
  auto program = open();
  std::string two = call(*program, 2), five = call(*program, 5);
  std::string stored = program->stored();
  ProgramSource from = source("no module"); // whose code nobody needs
  auto loaded = load(stored, from);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->entry().arguments[0].type.text(), "tensor<?x3xf32>");
  EXPECT_EQ(loaded->stored().size(), stored.size()); // before and after the plans are read
  EXPECT_EQ(call(*loaded, 2), two);
  EXPECT_EQ(call(*loaded, 5), five);
  EXPECT_TRUE(loaded->stored() == stored);
  EXPECT_EQ(call(*loaded, 3).substr(0, 37), "[program] not a valid StableHLO modul");
}

TEST_F(StoredProgram, PlansOtherSizes) {
  auto program = open();
  call(*program, 2);
  ProgramSource from = source(openRows);
  auto loaded = load(program->stored(), from);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(call(*loaded, 7), call(*program, 7));
  EXPECT_EQ(call(*loaded, 2), call(*program, 2));
}

TEST_F(StoredProgram, RefusesCodeWithOtherArguments) {
  auto program = open();
  constexpr std::string_view other = R"(
    func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> { return %x : tensor<?x3xf32> })";
  ProgramSource from = source(other);
  auto loaded = load(program->stored(), from);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(call(*loaded, 2), "[main] the stored program has other arguments or results than its code");
}

/// What a plan says of its sizes has to be what it is stored for.
TEST_F(StoredProgram, PlansThatAreOfOtherSizesAreNotUsed) {
  auto program = open();
  call(*program, 5);
  std::string plans = program->stored();
  const int64_t number[] = {1, 5}; // a list of one size
  std::string_view sizes(reinterpret_cast<const char *>(number), sizeof number);
  size_t place = plans.find(sizes);
  ASSERT_NE(place, std::string::npos);
  plans[place + sizeof(int64_t)] = 2;
  ProgramSource from = source(openRows);
  auto loaded = load(plans, from);
  ASSERT_TRUE(loaded);
  testing::internal::CaptureStderr();
  EXPECT_EQ(call(*loaded, 2), call(*program, 2));
  std::string log = testing::internal::GetCapturedStderr();
  std::string expected =
      "[main] the stored plan for the sizes 2 is not used: [plan] it has other arguments or results";
  EXPECT_NE(log.find(expected), std::string::npos) << log;
}

/// They could be nested to any depth, and so would be the calls.
TEST_F(StoredProgram, PlansOfOpenSizesInOthersAreRefused) {
  auto program = open();
  call(*program, 2);
  std::string nested = storeSizes(program->entry(), {}, {{{2}, program->stored()}}, Isa::Baseline);
  auto loaded = loadProgram(nested, source(openRows));
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::InvalidArgument);
  EXPECT_EQ(loaded.error().message, "[plan] a plan for given sizes has open sizes itself");
}

TEST_F(StoredProgram, IsRefusedIfItIsNotWhole) {
  auto program = open();
  call(*program, 2);
  for (const std::string &stored : {program->stored(), inTwo()->stored()}) {
    int64_t processes = stored[0] == 1 ? 2 : 1;
    ProgramSource from = source(openRows, processes);
    for (size_t length = 0; length < stored.size(); ++length) {
      auto loaded = loadProgram(std::string_view(stored).substr(0, length), from);
      EXPECT_FALSE(loaded && *loaded) << length;
    }
    EXPECT_EQ(loadProgram(stored + "x", from).error().message, "[plan] 1 bytes behind the end");
  }
  EXPECT_EQ(loadProgram("", source("")).error().message, "[plan] cut off: got 0 bytes, expected 1");
  EXPECT_EQ(loadProgram("\x7", source("")).error().message, "[plan] an enumerator: got 7, expected 0 to 2");
}

TEST_F(StoredProgram, OfSeveralProcessesHasAPlanForEach) {
  auto program = inTwo();
  std::string sums = callInTwo(*program), stored = program->stored();
  EXPECT_EQ(sums, std::string(32, '\3'));
  ASSERT_FALSE(stored.empty());
  ProgramSource from = source("no module", 2);
  auto loaded = load(stored, from);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(callInTwo(*loaded), sums);
  EXPECT_TRUE(loaded->stored() == stored);
  EXPECT_FALSE(load(stored, source("", 1))); // compiled again: another number of processes
  EXPECT_FALSE(load(program->stored(), source("", 4)));
}

/// An exchange in a plan that is said to be of one process.
TEST_F(StoredProgram, AnExchangeOfOneProcessIsAnError) {
  std::string stored = inTwo()->stored();
  size_t place = 1; // behind the kind, two texts, two numbers of processes, and the number of plans
  uint64_t size = 0;
  for (int text = 0; text < 2; ++text, place += sizeof size + size)
    std::memcpy(&size, stored.data() + place, sizeof size);
  place += 3 * sizeof size;
  std::memcpy(&size, stored.data() + place, sizeof size);
  ProgramSource from = source("");
  auto loaded = load(std::string_view(stored).substr(place + sizeof size, size), from);
  ASSERT_TRUE(loaded);
  ArgumentLists arguments(1);
  Tensor tensor = *Tensor::create(ElementType::I32, interpreter::Index{4});
  arguments[0].push_back({&tensor, false, &lifetimes[0]});
  EXPECT_EQ(loaded->run(arguments).error().message, "an exchange in a program of one process");
}

TEST_F(StoredProgram, OfSeveralProcessesNeedsAThreadForEach) {
  ProgramSource from = source(fourProcesses, 4);
  auto program = compileProgram([&](ModuleUse) { return readModule(fourProcesses); }, from.target,
                                from.context, from.family);
  ASSERT_TRUE(program) << program.error().text();
  std::string sums = callProcesses(**program, 4);
  EXPECT_EQ(sums, std::string(64, '\n'));
  for (rlim_t threads : {0, 1, 2}) {
    FewThreads few(threads);
    EXPECT_EQ(callProcesses(**program, 4),
              fmt::format("no thread for process {} of 4: Resource temporarily unavailable", threads + 1));
  }
  EXPECT_EQ(callProcesses(**program, 4), sums);
}

/// What is computed from weights is computed once for plans that were stored and those that are made.
TEST_F(StoredProgram, PlansShareWhatIsComputedFromWeights) {
  auto program = open();
  std::string five = call(*program, 5), six = call(*program, 6), seven = call(*program, 7);
  auto fewer = open();
  call(*fewer, 5), call(*fewer, 6);
  ProgramSource from = source(openRows);
  auto loaded = load(fewer->stored(), from);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(call(*loaded, 5), five);
  weight = 100; // nobody may: shows that nothing is computed again
  EXPECT_EQ(call(*loaded, 6), six);
  EXPECT_EQ(call(*loaded, 7), seven);
}

} // namespace
} // namespace torchere::cpu
