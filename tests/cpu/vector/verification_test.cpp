// What the builder and verify() refuse.
#include "cpu/vector/program.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace torchere::cpu {
namespace {

TEST(VectorBuilder, ErrorsNameTheOp) {
  VectorBuilder builder;
  auto a = builder.input(DType::F32), b = builder.input(DType::I32);
  builder.output(builder.apply(VectorOp::Add, a, b), DType::F32);
  EXPECT_EQ(builder.finish().error().message, "[Add] operands of different types: got f32 and i32");
  VectorBuilder bits;
  bits.output(bits.apply(VectorOp::PopulationCount, bits.input(DType::F32)), DType::F32);
  EXPECT_EQ(bits.finish().error().message, "[PopulationCount] no such op of this type: got f32");
}

TEST(VectorProgram, VerifyFindsWhatIsOutOfBounds) {
  VectorBuilder builder;
  auto a = builder.input(DType::F32);
  builder.output(builder.apply(VectorOp::Add, a, a), DType::F32);
  VectorProgram good = *builder.finish();
  ASSERT_TRUE(good.verify().has_value());
  for (int what = 0; what < 7; ++what) {
    VectorProgram bad = good;
    VectorInstruction &last = bad.instructions.back();
    if (what == 0)
      bad.instructions[1].operands[1] = 99;
    else if (what == 1)
      last.index = 5;
    else if (what == 2)
      bad.phases.back().end += 1;
    else if (what == 3)
      bad.instructions[1].op = static_cast<VectorOp>(200);
    else if (what == 4)
      bad.instructions[1].type = DType::C64;
    else if (what == 5)
      bad.instructions[0].result = 77;
    else
      last.operands[2] = 99; // which a store does not have
    EXPECT_FALSE(bad.verify().has_value()) << what;
  }
}

/// A row's sum, added to its elements: two phases.
VectorProgram rowSums() {
  VectorBuilder builder;
  auto x = builder.input(DType::F32);
  auto sum = builder.apply(VectorOp::ReduceSum, x);
  builder.output(builder.apply(VectorOp::Add, x, sum), DType::F32);
  return *builder.finish();
}

TEST(VectorProgram, VerifyFindsSlotsThatHoldSomethingElse) {
  VectorProgram good = rowSums();
  ASSERT_TRUE(good.verify()) << good.verify().error().message;
  auto place = [&](VectorOp op) {
    auto found = std::find_if(good.instructions.begin(), good.instructions.end(),
                              [&](const VectorInstruction &each) { return each.op == op; });
    return static_cast<size_t>(found - good.instructions.begin());
  };
  auto refusal = [&](VectorOp op, auto change) {
    VectorProgram bad = good;
    change(bad.instructions[place(op)]);
    Status status = bad.verify();
    return status ? "accepted" : status.error().message;
  };
  size_t add = place(VectorOp::Add), spread = place(VectorOp::Broadcast), sum = place(VectorOp::ReduceSum);
  EXPECT_EQ(
      refusal(VectorOp::Add, [](auto &each) { each.type = each.to = DType::F64; }),
      fmt::format("[vector program] instruction {}: an operand that is not there, or of another type", add));
  EXPECT_EQ(
      refusal(VectorOp::Add, [&](auto &each) { each.operands[1] = good.instructions[sum].result; }),
      fmt::format("[vector program] instruction {}: an operand that is not there, or of another type", add));
  EXPECT_EQ(refusal(VectorOp::Add, [&](auto &each) { each.result = good.instructions[spread].result; }),
            fmt::format("[vector program] instruction {}: a slot whose value is still needed", add));
  EXPECT_EQ(refusal(VectorOp::Add, [](auto &each) { each.perRow = true; }),
            fmt::format("[vector program] instruction {}: it stands in the wrong place", add));
  EXPECT_EQ(refusal(VectorOp::Broadcast, [](auto &each) { each.perRow = false; }),
            fmt::format("[vector program] instruction {}: it stands in the wrong place", spread));
  EXPECT_EQ(
      refusal(VectorOp::ReduceSum, [&](auto &each) { each.result = good.instructions[add].result; }),
      fmt::format("[vector program] instruction {}: a reduction that does not begin with an element", sum));
}

TEST(VectorProgram, VerifyFindsWhatWholeRowsHaveNot) {
  VectorBuilder builder;
  auto x = builder.input(DType::F32);
  auto sum = builder.apply(VectorOp::ReduceSum, x);
  auto root = builder.apply(VectorOp::Sqrt, sum);
  builder.output(builder.apply(VectorOp::Multiply, x,
                               builder.apply(VectorOp::Add, root, builder.constant(DType::F32, 1))),
                 DType::F32);
  VectorProgram good = *builder.finishWholeRows();
  ASSERT_TRUE(good.verify()) << good.verify().error().message;
  // A constant, then: input, sum, root, sum with the constant, product, store.
  ASSERT_EQ(good.instructions.size(), 7u);
  auto refusal = [&](auto change) {
    VectorProgram bad = good;
    change(bad);
    Status status = bad.verify();
    return status ? "accepted" : status.error().message;
  };
  EXPECT_EQ(refusal([](auto &bad) { bad.phases.push_back(bad.phases.front()); }),
            "[vector program] phases out of order");
  EXPECT_EQ(refusal([](auto &bad) { bad.phases.front().rowEnd += 1; }),
            "[vector program] 1 phases of whole rows: expected one that begins with the tile");
  EXPECT_EQ(refusal([](auto &bad) { bad.instructions[2].index = 9; }),
            "[vector program] instruction 2: an index is out of bounds");
  EXPECT_EQ(refusal([](auto &bad) { bad.instructions[2].perRow = true; }),
            "[vector program] instruction 2: it stands in the wrong place");
  EXPECT_EQ(refusal([](auto &bad) { bad.instructions[1].op = VectorOp::Iota; }),
            "[vector program] instruction 1: it stands in the wrong place");
  EXPECT_EQ(refusal([](auto &bad) { bad.instructions[3].operands[0] = bad.instructions[1].result; }),
            "[vector program] instruction 3: an operand that is not there, or of another type");
  EXPECT_EQ(refusal([](auto &bad) { bad.instructions[3].result = bad.instructions[0].result; }),
            "[vector program] instruction 3: a slot whose value is still needed");
  DType one[] = {DType::F32};
  EXPECT_EQ(good.verifyLanes(one, one).error().message, "[vector program] rows in a program of lanes");
}

TEST(VectorProgram, VerifyFindsWhatLanesHaveNot) {
  VectorBuilder builder;
  auto a = builder.input(DType::F32);
  builder.output(builder.apply(VectorOp::Add, a, builder.input(DType::F32)), DType::F32);
  VectorProgram program = *builder.finish();
  DType two[] = {DType::F32, DType::F32}, mixed[] = {DType::F32, DType::F64};
  EXPECT_TRUE(program.verifyLanes(two, {two, 1}));
  EXPECT_EQ(program.verifyLanes(mixed, {two, 1}).error().message,
            "[vector program] instruction 1: elements of another size: got f32, expected f64");
  EXPECT_EQ(program.verifyLanes(two, two).error().message,
            "[vector program] operands: got 2 and 1, expected 2 and 2");
  EXPECT_EQ(rowSums().verifyLanes({two, 1}, {two, 1}).error().message,
            "[vector program] rows in a program of lanes");
  VectorBuilder counting;
  counting.output(counting.iota(DType::F32, 0), DType::F32);
  EXPECT_EQ(counting.finish()->verifyLanes({}, {two, 1}).error().message,
            "[vector program] instruction 0: Iota in a program of lanes");
}

} // namespace
} // namespace torchere::cpu
