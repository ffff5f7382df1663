// Stored loop programs: what is written is read back and runs, and what would leave the registers, the code
// or a tensor is refused.
#include "plan_samples.h"

#include "cpu/execute/copy_step.h"
#include "cpu/execute/loop_program.h"

#include <numeric>

namespace torchere::cpu {
namespace {

using LoopFields = decltype(LoopProgramStep::fields(std::declval<LoopProgramStep &>()));

/// One of each instruction, on 64 bytes of registers: a turn doubles an element at a computed place.
std::unique_ptr<LoopProgramStep> loopProgram() {
  auto step = std::make_unique<LoopProgramStep>();
  auto [instructions, targets, accesses, steps, registers] = LoopProgramStep::fields(*step);
  registers = denseView(scratch, ElementType::U8, {64});
  LoopIndex start{0, ElementType::I64, 2};
  accesses = {{denseView(index, ElementType::I64, {}), {}, {}},
              {floats(argument, {16}), {1}, {start}},
              {floats(result, {16}), {1}, {start}, true}};
  targets = {7, 8};
  steps.push_back(std::make_unique<const CopyStep>(floats(constant, {4}), floats(result, {4})));
  using V = VectorOp;
  auto add = [&](LoopOp op, V function, DType type, uint32_t made, std::array<uint32_t, 2> from,
                 int64_t count, uint32_t place = 0, std::array<int64_t, 4> sizes = {}) {
    LoopInstruction each{op, function, type, type, made, {from[0], from[1], 0}, count};
    std::copy(sizes.begin(), sizes.end(), each.sizes);
    each.index = place;
    instructions.push_back(each);
  };
  add(LoopOp::Read, V::Add, DType::F32, 0, {}, 0, 0);
  add(LoopOp::Read, V::Add, DType::F32, 8, {}, 0, 1);
  add(LoopOp::Apply, V::Add, DType::F32, 12, {8, 8}, 1);
  add(LoopOp::Write, V::Add, DType::F32, 0, {12}, 0, 2);
  add(LoopOp::Apply, V::Less, DType::I64, 16, {0, 0}, 1);
  add(LoopOp::JumpIf, V::Add, DType::F32, 0, {16}, 0, 0);
  add(LoopOp::Switch, V::Add, DType::F32, 0, {0}, 2, 0);
  add(LoopOp::Run, V::Add, DType::F32, 0, {}, 0, 0);
  add(LoopOp::Spread, V::Add, DType::F32, 32, {8}, 4);
  add(LoopOp::Fold, V::ReduceSum, DType::F32, 48, {32, 8}, 0, 0, {1, 4});
  add(LoopOp::Arrange, V::Add, DType::F32, 48, {32}, 0, 0, {2, 2, 0, 1});
  add(LoopOp::Product, V::Add, DType::F32, 40, {32, 48}, 0, 0, {1, 1, 2, 2});
  add(LoopOp::Move, V::Add, DType::F32, 56, {0}, 8);
  add(LoopOp::Jump, V::Add, DType::F32, 0, {}, 0, 14);
  return step;
}

std::string refusedLoop(const std::function<void(LoopFields)> &change) {
  return refusal([&](Plan &plan) {
    std::unique_ptr<LoopProgramStep> step = loopProgram();
    change(LoopProgramStep::fields(*step));
    plan.steps.push_back(std::move(step));
  });
}

TEST(LoopProgram, StaysInItsRegisters) {
  auto refuse = [](size_t place, const std::function<void(LoopInstruction &)> &change) {
    return refusedLoop([&](LoopFields fields) { change(std::get<0>(fields)[place]); });
  };
  EXPECT_EQ(refusedLoop([](LoopFields) {}), "accepted");
  EXPECT_EQ(refuse(0, [](LoopInstruction &read) { read.result = 57; }),
            "step 0, of : 8 bytes at 57: expected some of 64 bytes of registers");
  EXPECT_EQ(refuse(1, [](LoopInstruction &read) { read.index = 3; }),
            "step 0, of : access 3: expected one of 3");
  EXPECT_EQ(refuse(1, [](LoopInstruction &read) { read.index = 2; }),
            "step 0, of : a part that is read is inside");
  EXPECT_EQ(refuse(3, [](LoopInstruction &write) { write.index = 1; }),
            "step 0, of : an argument that is written: got 0, which the plan does not write");
  EXPECT_EQ(refuse(2, [](LoopInstruction &apply) { apply.operands[1] = 61; }),
            "step 0, of : 4 bytes at 61: expected some of 64 bytes of registers");
  EXPECT_EQ(refuse(2, [](LoopInstruction &apply) { apply.count = 15; }),
            "step 0, of : 60 bytes at 8: expected some of 64 bytes of registers");
  EXPECT_EQ(refuse(2, [](LoopInstruction &apply) { apply.count = -1; }),
            "step 0, of : elements of a register: got -1, expected 0 to 1048576");
  EXPECT_EQ(refuse(2, [](LoopInstruction &apply) { apply.function = VectorOp::And; }),
            "step 0, of : no such function of this type");
  EXPECT_EQ(refuse(2, [](LoopInstruction &apply) { apply.function = VectorOp::ReduceSum; }),
            "step 0, of : no such function of this type");
  EXPECT_EQ(refuse(2, [](LoopInstruction &apply) { apply.type = apply.to = DType::BF16; }),
            "step 0, of : no such function of this type");
  EXPECT_EQ(refuse(5, [](LoopInstruction &jump) { jump.index = 15; }),
            "step 0, of : the target of a jump: got 15, expected 0 to 14");
  EXPECT_EQ(refuse(5, [](LoopInstruction &jump) { jump.operands[0] = 64; }),
            "step 0, of : 1 bytes at 64: expected some of 64 bytes of registers");
  EXPECT_EQ(refuse(6, [](LoopInstruction &choice) { choice.index = 1; }),
            "step 0, of : 2 targets from 1 on: expected some of 2");
  EXPECT_EQ(refuse(6, [](LoopInstruction &choice) { choice.count = 0; }),
            "step 0, of : 0 targets from 0 on: expected some of 2");
  EXPECT_EQ(refuse(7, [](LoopInstruction &run) { run.index = 1; }), "step 0, of : step 1: expected one of 1");
  EXPECT_EQ(refuse(8, [](LoopInstruction &spread) { spread.count = 9; }),
            "step 0, of : 36 bytes at 32: expected some of 64 bytes of registers");
  EXPECT_EQ(refuse(9, [](LoopInstruction &fold) { fold.sizes[0] = 3; }),
            "step 0, of : 48 bytes at 32: expected some of 64 bytes of registers");
  EXPECT_EQ(refuse(9, [](LoopInstruction &fold) { fold.function = VectorOp::Add; }),
            "step 0, of : no such reduction of this type");
  EXPECT_EQ(refuse(10, [](LoopInstruction &arrange) { arrange.sizes[2] = 8; }),
            "step 0, of : elements behind the registers");
  EXPECT_EQ(refuse(10, [](LoopInstruction &arrange) { arrange.sizes[3] = -9; }),
            "step 0, of : elements before the registers");
  EXPECT_EQ(refuse(10, [](LoopInstruction &arrange) { arrange.sizes[0] = int64_t(1) << 39; }),
            "step 0, of : elements of a register: got -1, expected 0 to 1048576");
  EXPECT_EQ(refuse(11, [](LoopInstruction &product) { product.sizes[2] = 3; }),
            "step 0, of : 24 bytes at 48: expected some of 64 bytes of registers");
  EXPECT_EQ(refuse(11, [](LoopInstruction &product) { product.type = DType::I32; }),
            "step 0, of : a product of i32");
  EXPECT_EQ(refuse(12, [](LoopInstruction &move) { move.count = 9; }),
            "step 0, of : 9 bytes at 56: expected some of 64 bytes of registers");
  EXPECT_EQ(refuse(12, [](LoopInstruction &move) { move.count = -8; }),
            "step 0, of : -8 bytes at 0: expected some of 64 bytes of registers");
  EXPECT_EQ(refuse(0, [](LoopInstruction &read) { read.op = static_cast<LoopOp>(13); }),
            "an enumerator: got 13, expected 0 to 12");
}

TEST(LoopProgram, ReadsAndWritesPartsOfTensors) {
  auto refuse = [](const std::function<void(LoopAccess &)> &change) {
    return refusedLoop([&](LoopFields fields) { change(std::get<2>(fields)[2]); });
  };
  EXPECT_EQ(refuse([](LoopAccess &access) { access.whole.shape = {17}; }),
            "step 0, of : a view from element 0 on that leaves its buffer of 64 bytes");
  EXPECT_EQ(refuse([](LoopAccess &access) { access.part = {17}; }),
            "step 0, of : sizes of a part: got 17, expected 0 to 16");
  EXPECT_EQ(refuse([](LoopAccess &access) { access.part = {0}; }), "step 0, of : a part without elements");
  EXPECT_EQ(refuse([](LoopAccess &access) { access.part = {1, 1}; }),
            "step 0, of : dimensions of a part: got 2, expected 1");
  EXPECT_EQ(refuse([](LoopAccess &access) {
              access.whole = strided(access.whole, {{4, 4}});
              access.part = {2};
            }),
            "step 0, of : a part with gaps");
  EXPECT_EQ(refuse([](LoopAccess &access) { access.starts[0].place = 57; }),
            "step 0, of : 8 bytes at 57: expected some of 64 bytes of registers");
  EXPECT_EQ(refuse([](LoopAccess &access) { access.starts[0].type = ElementType::F32; }),
            "step 0, of : a start: got f32");
  EXPECT_EQ(refuse([](LoopAccess &access) { access.starts[0].wrap = -1; }),
            "step 0, of : what is added to a start: got -1, expected 0 to 1099511627776");
  EXPECT_EQ(refuse([](LoopAccess &access) { access.starts.clear(); }),
            "step 0, of : starts of a part: got 0, expected 1");
  EXPECT_EQ(refusedLoop([](LoopFields fields) { std::get<1>(fields)[1] = 15; }),
            "step 0, of : the target of a jump: got 15, expected 0 to 14");
  EXPECT_EQ(refusedLoop([](LoopFields fields) { std::get<4>(fields).shape = {65}; }),
            "step 0, of : a view from element 0 on that leaves its buffer of 64 bytes");
  EXPECT_EQ(refusedLoop([](LoopFields fields) { std::get<4>(fields).type = ElementType::F32; }),
            "step 0, of : elements: got f32, expected u8");
  EXPECT_EQ(refusedLoop([](LoopFields fields) {
              LoopInstruction none;
              none.op = LoopOp::Move;
              std::get<0>(fields).assign(LoopProgram::mostInRow + 1, none);
            }),
            "step 0, of : instructions in a row: expected at most 1024");
}

TEST(LoopProgram, RunsAsItIsRead) {
  Plan plan = emptyPlan(), again;
  plan.steps.push_back(loopProgram());
  std::string bytes = written(plan);
  ASSERT_TRUE(read(bytes, again));
  EXPECT_EQ(written(again), bytes);
  alignas(64) float given[16], made[16] = {}, arena[16] = {};
  std::iota(given, given + 16, 0.0f);
  ThreadPool pool(1);
  auto bytesOf = [](void *memory) { return static_cast<std::byte *>(memory); };
  for (auto [start, place] :
       std::initializer_list<std::pair<int64_t, int>>{{5, 5}, {-1, 1}, {16, -1}, {-3, -1}}) {
    std::fill_n(made, 16, -1.0f);
    Frame frame{{pool, Isa::Baseline},
                {bytesOf(given), bytesOf(made), again.constants[0].get(), bytesOf(arena), bytesOf(arena + 8),
                 bytesOf(&start)},
                {}};
    ASSERT_TRUE(runSteps(again.steps, frame));
    for (int i = 4; i < 16; ++i)
      EXPECT_EQ(made[i], i == place ? 2.0f * given[i] : -1.0f) << start;
    float element = given[std::clamp<int64_t>(start < 0 ? start + 2 : start, 0, 15)];
    EXPECT_EQ(arena[10], 2 * element * element) << start;
  }
  for (size_t place = 0; place < bytes.size(); ++place)
    for (int value : {0, 1, 3, 127, 128, 255}) {
      std::string changed = bytes;
      changed[place] = static_cast<char>(value);
      Plan other;
      if (read(changed, other)) {
        EXPECT_EQ(written(other), changed) << place;
      }
    }
}

} // namespace
} // namespace torchere::cpu
