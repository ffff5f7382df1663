// Stored plans: what is written is read back, and what would touch other memory is refused.
#include "plan_samples.h"

#include "cpu/execute/bisection_step.h"
#include "cpu/execute/blocked_steps.h"
#include "cpu/execute/cell_step.h"
#include "cpu/execute/control_steps.h"
#include "cpu/execute/convolution_step.h"
#include "cpu/execute/copy_step.h"
#include "cpu/execute/extremum_step.h"
#include "cpu/execute/gather_step.h"
#include "cpu/execute/matmul_step.h"
#include "cpu/execute/reduce_step.h"
#include "cpu/execute/rows_step.h"
#include "cpu/execute/slice_step.h"
#include "cpu/execute/vector_step.h"

#include <gtest/gtest.h>

#include <numeric>

namespace torchere::cpu {
namespace {

template <class T, class... Args> void add(Plan &plan, Args &&...args) {
  plan.steps.push_back(std::make_unique<const T>(std::forward<Args>(args)...));
}

/// A negated copy, a slice at a computed place, and a branch.
Plan smallPlan() {
  Plan plan = emptyPlan();
  VectorBuilder builder;
  builder.output(builder.apply(VectorOp::Negate, builder.input(DType::F32)), DType::F32);
  auto vector = VectorStep::create(*builder.finish(), {floats(argument, {4, 4})}, {floats(scratch, {4, 4})},
                                   true, Isa::Baseline);
  plan.origins[vector->get()] = {"stablehlo.negate", "model.py:3", 128};
  plan.steps.push_back(*std::move(vector));
  View start = denseView(index, ElementType::I64, {});
  add<SliceStep>(plan, SliceStep::Direction::Read, floats(scratch, {4, 4}), floats(result, {2, 4}),
                 std::vector<View>{start, start});
  std::vector<Steps> branches(2);
  branches[1].push_back(std::make_unique<const CopyStep>(floats(constant, {16}), floats(result, {16})));
  add<BranchStep>(plan, start, std::move(branches));
  return plan;
}

TEST(StoredPlan, IsReadAsItWasWritten) {
  std::string bytes = written(smallPlan());
  Plan plan;
  Status status = read(bytes, plan);
  ASSERT_TRUE(status) << status.error().text();
  ASSERT_EQ(plan.steps.size(), 3u);
  EXPECT_EQ(plan.steps[0]->name(), "vector program");
  EXPECT_EQ(plan.origins.at(plan.steps[0].get()).source, "model.py:3");
  EXPECT_EQ(written(plan), bytes);

  alignas(64) float given[16], made[16], arena[16];
  std::iota(given, given + 16, 0.0f);
  int64_t start = 1;
  ThreadPool pool(1);
  Context context{pool, Isa::Baseline};
  auto bytesOf = [](void *memory) { return static_cast<std::byte *>(memory); };
  Frame frame{context,
              {bytesOf(given), bytesOf(made), plan.constants[0].get(), bytesOf(arena), bytesOf(arena + 8),
               bytesOf(&start)},
              {}};
  Plan first = smallPlan();
  plan.steps.pop_back();
  ASSERT_TRUE(runSteps(plan.steps, frame));
  EXPECT_EQ(made[0], -4.0f); // the second row, as the columns are taken whole
}

TEST(StoredPlan, IsRefusedIfItIsCutOff) {
  std::string bytes = written(smallPlan());
  for (size_t length = 0; length < bytes.size(); ++length) {
    Plan plan;
    EXPECT_FALSE(read(std::string_view(bytes).substr(0, length), plan)) << length;
  }
  Plan plan;
  EXPECT_EQ(read(bytes + "x", plan).error().message, "1 bytes behind the end");
}

TEST(StoredPlan, NoByteMakesItTouchOtherMemory) {
  std::string bytes = written(smallPlan());
  for (size_t place = 0; place < bytes.size(); ++place)
    for (int value : {0, 1, 3, 127, 128, 255}) {
      std::string changed = bytes;
      changed[place] = static_cast<char>(value);
      Plan plan;
      if (read(changed, plan)) {
        EXPECT_EQ(written(plan), changed) << place;
      }
    }
}

TEST(StoredPlan, BuffersLieWhereTheyMay) {
  EXPECT_EQ(refusal([](Plan &plan) { plan.buffers[scratch].offset = 64; }), "a buffer that leaves the arena");
  EXPECT_EQ(refusal([](Plan &plan) { plan.buffers[scratch].offset = 4; }),
            "offset of a buffer: got 4, expected a multiple of 64");
  EXPECT_EQ(refusal([](Plan &plan) { plan.buffers[part].offset = 52; }),
            "a part that leaves what it is a part of");
  EXPECT_EQ(refusal([](Plan &plan) { plan.buffers[part].index = constant; }),
            "a part of buffer 2, which is not in the arena");
  EXPECT_EQ(refusal([](Plan &plan) { plan.buffers[index].index = 2; }),
            "a buffer of argument 2: expected one of 2");
  EXPECT_EQ(refusal([](Plan &plan) { plan.results = {9}; }),
            "the buffer of a result: got 9, expected one of 6");
  EXPECT_EQ(refusal([](Plan &plan) { plan.arenaBytes = -1; }),
            "bytes of the arena: got -1, expected 0 to 1099511627776");
  EXPECT_EQ(refusal([](Plan &plan) { plan.buffers[argument].home = static_cast<Home>(5); }),
            "an enumerator: got 5, expected 0 to 4");
}

/// Kernels keep each index of a place inside of the tensor, and not sums of them.
TEST(StoredPlan, PlacesOfSlicesHaveOneIndexADimension) {
  auto refuse = [](const std::function<void(IndexedSlices &)> &change) {
    IndexedSlices slices{.rank = 2, .dims = {4, 4}, .strides = {4, 1}, .sizes = {1, 1}, .batchRank = 1};
    slices.batchDims[0] = 4;
    slices.batchStrides[0] = 1;
    slices.batchTarget[0] = -1;
    slices.components = 2;
    slices.target[1] = 1;
    change(slices);
    return refusal([&](Plan &plan) {
      add<GatherStep>(plan, slices, floats(argument, {4, 4}), denseView(index, ElementType::I64, {}),
                      floats(result, {4}));
    });
  };
  EXPECT_EQ(refuse([](IndexedSlices &) {}), "accepted");
  EXPECT_EQ(refuse([](IndexedSlices &slices) { slices.target[1] = 0; }),
            "step 0, of : two indices of dimension 0");
  EXPECT_EQ(refuse([](IndexedSlices &slices) { slices.batchTarget[0] = 1; }),
            "step 0, of : two indices of dimension 1");
  auto batched = [](IndexedSlices &slices) {
    slices.components = 1;
    slices.batchTarget[0] = 1;
  };
  EXPECT_EQ(refuse(batched), "accepted");
  EXPECT_EQ(refuse([&](IndexedSlices &slices) {
              batched(slices);
              slices.batchDims[0] = 5;
            }),
            "step 0, of : slices along dimension 1: got 5, expected at most 4");
}

TEST(StoredPlan, ViewsLieInTheirBuffers) {
  auto copy = [](View from, View to) { return [=](Plan &plan) { add<CopyStep>(plan, from, to); }; };
  EXPECT_EQ(refusal(copy(floats(argument, {17}), floats(result, {17}))),
            "step 0, of : a view from element 0 on that leaves its buffer of 64 bytes");
  View before = reversed(floats(argument, {4}), Sizes{0});
  before.offset = 2;
  EXPECT_EQ(refusal(copy(before, floats(result, {4}))),
            "step 0, of : a view from element 2 on that leaves its buffer of 64 bytes");
  View wide = floats(argument, {2});
  wide.strides[0] = int64_t(1) << 50;
  EXPECT_EQ(refusal(copy(wide, floats(result, {2}))),
            "step 0, of : strides of a view: got 1125899906842624, expected -1099511627776 to 1099511627776");
  EXPECT_EQ(refusal(copy(floats(99, {2}), floats(result, {2}))),
            "step 0, of : a buffer: got 99, expected one of 6");
  EXPECT_EQ(refusal(copy(floats(argument, {2}), floats(result, {3}))),
            "step 0, of : sizes: got [2], expected [3]");
  EXPECT_EQ(refusal(copy(floats(argument, {2}), floats(constant, {2}))),
            "step 0, of : a constant that is written");
  EXPECT_EQ(refusal(copy(floats(argument, {2}), floats(index, {2}))),
            "step 0, of : an argument that is written: got 1, which the plan does not write");
  EXPECT_EQ(refusal(copy(broadcast(floats(argument, {}), {32}, {}), broadcast(floats(result, {}), {32}, {}))),
            "step 0, of : a view that is written has more elements than its buffer: got 32");
}

TEST(StoredPlan, StepsAreOfViewsThatFit) {
  SoftmaxArgs rows;
  rows.rows = {DType::F32, 5, 4, nullptr, 4, nullptr, 4};
  EXPECT_EQ(refusal([&](Plan &plan) {
              add<SoftmaxStep>(plan, rows, floats(argument, {16}), floats(result, {16}));
            }),
            "step 0, of : a view from element 0 on that leaves its buffer of 64 bytes");
  rows.rows.rows = 4;
  rows.rows.type = DType::I32;
  EXPECT_EQ(refusal([&](Plan &plan) {
              add<SoftmaxStep>(plan, rows, floats(argument, {16}), floats(result, {16}));
            }),
            "step 0, of : rows of i32");
  rows.rows = {DType::F32, 6, 2, nullptr, 0, nullptr, 0};
  rows.inner = 4;
  EXPECT_EQ(refusal([&](Plan &plan) {
              add<SoftmaxStep>(plan, rows, floats(argument, {12}), floats(result, {12}));
            }),
            "step 0, of : rows that are left over: got 2, expected 0");
  BisectionArgs bisection;
  bisection.length = bisection.count = 8;
  bisection.high = 9;
  auto bisect = [&](Plan &plan) {
    add<BisectionStep>(plan, bisection, floats(argument, {8}), floats(argument, {8}),
                       denseView(result, ElementType::I32, {8}));
  };
  EXPECT_EQ(refusal(bisect), "step 0, of : the highest place: got 9, expected 0 to 8");
  bisection.high = 3;
  bisection.low = 4;
  EXPECT_EQ(refusal(bisect), "step 0, of : the lowest place: got 4, expected 0 to 3");
  bisection.low = 0;
  bisection.length = 17;
  EXPECT_NE(refusal(bisect), "accepted");
  WindowExtremumArgs windows;
  windows.dims[2] = 16;
  windows.outputDims[2] = windows.strides[2] = 4;
  auto search = [&](Plan &plan) {
    add<WindowExtremumStep>(plan, windows, floats(argument, {16}), floats(result, {4}),
                            denseView(scratch, ElementType::I64, {4}));
  };
  EXPECT_EQ(refusal(search), "accepted");
  windows.dims[1] = 2;
  EXPECT_EQ(refusal(search), "step 0, of : elements: got 16, expected 32");
  windows.dims[1] = windows.planes = 1;
  windows.strides[2] = 0;
  EXPECT_NE(refusal(search).find("steps of windows"), std::string::npos) << refusal(search);
  windows.strides[2] = 4;
  windows.placeType = DType::I8;
  EXPECT_EQ(refusal(search), "step 0, of : places of i8");
  EXPECT_EQ(refusal([](Plan &plan) {
              plan.steps.push_back(*ReduceStep::create(Reduction::And, DType::F32, floats(argument, {4, 4}),
                                                       floats(constant, {}), floats(result, {4}), Sizes{1}));
            }),
            "step 0, of : a reduction of f32");
  EXPECT_EQ(refusal([](Plan &plan) {
              plan.steps.push_back(*ReduceStep::create(Reduction::Sum, DType::F32, floats(argument, {4, 4}),
                                                       floats(constant, {}), floats(result, {4}), Sizes{}));
            }),
            "step 0, of : elements: got 4, expected 16");
  EXPECT_EQ(refusal([](Plan &plan) {
              View start = denseView(index, ElementType::F32, {});
              add<SliceStep>(plan, SliceStep::Direction::Read, floats(argument, {4}), floats(result, {2}),
                             std::vector<View>{start});
            }),
            "step 0, of : an integer: got f32");
  EXPECT_EQ(refusal([](Plan &plan) {
              Steps body;
              body.push_back(std::make_unique<const CopyStep>(floats(argument, {17}), floats(result, {17})));
              add<LoopStep>(plan, Steps(), denseView(constant, ElementType::Bool, {}), std::move(body),
                            std::vector<Swap>());
            }),
            "step 1, of : a view from element 0 on that leaves its buffer of 64 bytes");
}

/// Counts an integer of the argument in `index` up to one in `constant`.
Change loopThatCounts(const std::function<void(LoopCount &)> &change) {
  return [=](Plan &plan) {
    LoopCount count;
    count.counter = denseView(scratch, ElementType::I64, {});
    count.limit = denseView(constant, ElementType::I64, {});
    change(count);
    Steps body;
    body.push_back(std::make_unique<const CopyStep>(floats(argument, {16}), floats(result, {16})));
    add<CountedLoopStep>(plan, count, std::move(body), std::vector<Swap>());
  };
}

TEST(StoredPlan, LoopsCountIntegersOfTheirOwn) {
  auto refuse = [](const std::function<void(LoopCount &)> &change) {
    return refusal(loopThatCounts(change));
  };
  EXPECT_EQ(refuse([](LoopCount &) {}), "accepted");
  EXPECT_EQ(refuse([](LoopCount &count) { count.limit.type = ElementType::I32; }),
            "step 0, of : a loop that counts i64 to a limit of i32");
  EXPECT_EQ(refuse([](LoopCount &count) { count.limit.type = count.counter.type = ElementType::I4; }),
            "step 0, of : a loop that counts i4");
  EXPECT_EQ(refuse([](LoopCount &count) { count.limit.type = count.counter.type = ElementType::F32; }),
            "step 0, of : an integer: got f32");
  EXPECT_EQ(refuse([](LoopCount &count) { count.limit.type = count.counter.type = ElementType::Bool; }),
            "step 0, of : a loop that counts i1");
  EXPECT_EQ(refuse([](LoopCount &count) { count.counter = count.limit; }),
            "step 0, of : a constant that is written");
  EXPECT_EQ(refuse([](LoopCount &count) { count.counter.buffer = index; }),
            "step 0, of : an argument that is written: got 1, which the plan does not write");
  EXPECT_EQ(refuse([](LoopCount &count) { count.limit.offset = 8; }),
            "step 0, of : a view from element 8 on that leaves its buffer of 64 bytes");
  EXPECT_EQ(refuse([](LoopCount &count) { count.comparison = static_cast<CountComparison>(6); }),
            "an enumerator: got 6, expected 0 to 5");
}

/// Two loops, each of which copies eight bytes.
std::string refusalOfTogether(const View &from, const View &to, const View &otherFrom, const View &otherTo) {
  return refusal([&](Plan &plan) {
    plan.buffers.push_back({Home::Arena, 0, 128, 64});
    plan.buffers.push_back({Home::Arena, 0, 64, 128}); // in the second half of the one before
    plan.arenaBytes = 192;
    Steps loops;
    for (const auto &[source, target] : {std::pair(from, to), std::pair(otherFrom, otherTo)}) {
      Steps body;
      body.push_back(std::make_unique<const CopyStep>(source, target));
      loops.push_back(std::make_unique<const LoopStep>(Steps(), denseView(constant, ElementType::Bool, {}),
                                                       std::move(body), std::vector<Swap>()));
    }
    add<ParallelStep>(plan, std::move(loops), true);
  });
}

TEST(StoredPlan, LoopsThatRunAtTheSameTimeAreApart) {
  constexpr BufferId one = 6, two = 7;
  View given = floats(argument, {2}), made = floats(result, {2}), kept = floats(scratch, {2});
  View inPart = floats(part, {2}), inOne = floats(one, {2}), inTwo = floats(two, {2});
  EXPECT_EQ(refusalOfTogether(given, made, given, kept), "accepted");
  EXPECT_EQ(refusalOfTogether(inOne, made, inTwo, kept), "accepted");
  EXPECT_EQ(refusalOfTogether(given, inPart, given, inOne), "accepted");
  auto expected = [](int writer, int other) {
    return fmt::format("step 0, of : steps that run at the same time: step {} writes what step {} touches",
                       writer, other);
  };
  EXPECT_EQ(refusalOfTogether(given, made, given, made), expected(0, 1));
  EXPECT_EQ(refusalOfTogether(given, kept, inPart, made), expected(0, 1));
  EXPECT_EQ(refusalOfTogether(inPart, made, given, kept), expected(1, 0));
  EXPECT_EQ(refusalOfTogether(given, inOne, given, inTwo), expected(0, 1));
  EXPECT_EQ(refusalOfTogether(inOne, made, given, inTwo), expected(1, 0));
  EXPECT_EQ(refusal([](Plan &plan) { add<ParallelStep>(plan, Steps(), true); }),
            "step 0, of : loops that run at the same time: got 0, expected 1 to 8");
}

/// A product of one row whose columns are two gates, each of a panel, and their sum.
struct Cell {
  int64_t width = 2 * floatLanes(Isa::Baseline);
  Matmul matmul;
  std::vector<View> gates;
  View sum;
  std::unique_ptr<const Step> slice;

  static SliceStep sliceOf(SliceStep::Direction direction, const View &whole, const View &part,
                           BufferId place = index) {
    View start = denseView(place, ElementType::I64, {});
    return {direction, whole, part, std::vector<View>(whole.shape.size(), start)};
  }
  void readSlice(const View &whole, const View &part) {
    slice = std::make_unique<const SliceStep>(sliceOf(SliceStep::Direction::Read, whole, part));
  }
  /// Adds the row at a computed place to the product.
  void addSlice(const View &whole, const View &part) {
    matmul.residual = floats(part.buffer, {1, 2 * width});
    readSlice(whole, part);
  }
  bool writes(const SliceStep &written) const {
    std::unique_ptr<const Step> cell = make();
    return cell && static_cast<const CellStep &>(*cell).writing(written, Isa::Baseline);
  }

  Cell() {
    matmul.m = matmul.k = 1;
    matmul.n = 2 * width;
    matmul.a = {floats(argument, {1, 1}), 0, 1, 1};
    matmul.b = {floats(constant, {1, 2 * width}), 0, 2 * width, 1};
    matmul.isConstant = true;
    matmul.result = floats(scratch, {1, 2 * width});
    gates = {floats(scratch, {1, width}), floats(scratch, {1, width})};
    gates[1].offset = width;
    sum = floats(result, {1, width});
  }
  std::unique_ptr<const Step> make(bool isWalked = true) const {
    VectorBuilder builder;
    auto a = builder.input(DType::F32), b = builder.input(DType::F32);
    builder.output(builder.apply(VectorOp::Add, a, b), DType::F32);
    auto vector = VectorStep::create(*builder.finish(), gates, {sum}, isWalked, Isa::Baseline);
    return CellStep::create(MatmulStep(matmul, Isa::Baseline), **vector, slice.get(), Isa::Baseline);
  }
};

TEST(StoredPlan, CellsAreProductsWithTheProgramOnTheirColumns) {
  EXPECT_NE(Cell().make(), nullptr);
  EXPECT_EQ(refusal([](Plan &plan) { plan.steps.push_back(Cell().make()); }), "accepted");
  EXPECT_EQ(Cell().make(/*isWalked=*/false), nullptr);
  auto made = [](const std::function<void(Cell &)> &change) {
    Cell cell;
    change(cell);
    return cell.make() != nullptr;
  };
  EXPECT_FALSE(made([](Cell &cell) { cell.gates[1].offset = 1; })); // of two runs
  EXPECT_FALSE(made([](Cell &cell) { cell.gates[1].strides[1] = -1; }));
  EXPECT_FALSE(made([](Cell &cell) { cell.gates[0].buffer = cell.gates[1].buffer = argument; }));
  EXPECT_FALSE(made([](Cell &cell) { cell.sum.buffer = scratch; }));
  EXPECT_FALSE(made([](Cell &cell) { cell.sum.buffer = argument; }));
  EXPECT_FALSE(made([](Cell &cell) { cell.matmul.residual = floats(result, {1, 2 * cell.width}); }));
  EXPECT_FALSE(made([](Cell &cell) { cell.matmul.n += 1; }));
  EXPECT_FALSE(made([](Cell &cell) { cell.matmul.m = 2; }));
  EXPECT_TRUE(made([](Cell &cell) { cell.gates[1].offset = 0; }));
  EXPECT_TRUE(made([](Cell &cell) { cell.gates[0].buffer = argument; }));
}

/// A product of two rows whose columns are the gates of an LSTM, with the cells in memory of their own.
struct LstmStep {
  int64_t width = 2 * floatLanes(Isa::Baseline);
  Matmul matmul;
  std::vector<View> inputs,
      outputs; ///< the gates output, input, candidate, forget, and the cell; cell, hidden

  LstmStep() {
    matmul.m = 2;
    matmul.k = 1;
    matmul.n = 4 * width;
    matmul.a = {floats(constant, {2, 1}), 0, 1, 1};
    matmul.b = {floats(constant, {1, 4 * width}), 0, 4 * width, 1};
    matmul.isConstant = true;
    matmul.result = floats(scratch, {2, 4 * width});
    for (int64_t gate = 0; gate < 4; ++gate) {
      inputs.push_back(floats(scratch, {2, width}));
      inputs.back().strides[0] = 4 * width;
      inputs.back().offset = gate * width;
    }
    inputs.push_back(floats(argument, {2, width}));
    outputs = {floats(argument, {2, width}), floats(result, {2, width})};
  }
  std::string name() const {
    VectorBuilder builder;
    VectorBuilder::Value in[5];
    for (VectorBuilder::Value &value : in)
      value = builder.input(DType::F32);
    auto gated = [&](int gate, VectorBuilder::Value value) {
      return builder.apply(VectorOp::Multiply, builder.apply(VectorOp::Logistic, in[gate]), value);
    };
    auto cell = builder.apply(VectorOp::Add, gated(3, in[4]), gated(1, builder.apply(VectorOp::Tanh, in[2])));
    builder.output(cell, DType::F32);
    builder.output(gated(0, builder.apply(VectorOp::Tanh, cell)), DType::F32);
    auto vector = VectorStep::create(*builder.finish(), inputs, outputs, /*isWalked=*/true, Isa::Baseline);
    auto step = CellStep::create(MatmulStep(matmul, Isa::Baseline), **vector, nullptr, Isa::Baseline);
    return step ? std::string(step->name()) : "none";
  }
};

TEST(StoredPlan, CellsOfLstmsHaveAKernelForRowsThatLieApart) {
  auto named = [](const std::function<void(LstmStep &)> &change) {
    LstmStep step;
    change(step);
    return step.name();
  };
  EXPECT_EQ(named([](LstmStep &) {}), "LSTM cell");
  EXPECT_EQ(named([](LstmStep &step) {
              step.inputs[4].buffer = constant;
              step.inputs[4].strides[0] = 3 * step.width;
            }),
            "LSTM cell");
  EXPECT_EQ(named([](LstmStep &step) { step.outputs[1].strides[0] = 3 * step.width; }), "LSTM cell");
  EXPECT_EQ(named([](LstmStep &step) { step.inputs[4].strides = {1, 2}; }), "cell");
  EXPECT_EQ(named([](LstmStep &step) { step.outputs[0].strides = {1, 2}; }), "cell");
  EXPECT_EQ(named([](LstmStep &step) { step.inputs[4].offset = 1; }), "cell"); // beside what is written
  EXPECT_EQ(named([](LstmStep &step) { step.outputs[0].strides[0] = 2 * step.width; }), "cell");
  EXPECT_EQ(named([](LstmStep &step) { // one gate is no column of the product
              step.inputs[2].buffer = constant;
              step.inputs[2].strides[0] = step.width;
            }),
            "cell");
}

TEST(StoredPlan, CellsAddASliceWhereItLies) {
  auto made = [](const std::function<void(View &, View &)> &change) {
    Cell cell;
    View whole = floats(argument, {1, 2 * cell.width}), part = floats(result, {1, 2 * cell.width});
    cell.sum.buffer = argument;
    cell.matmul.a.view.buffer = constant;
    whole.buffer = constant;
    change(whole, part);
    cell.addSlice(whole, part);
    return cell.make() != nullptr;
  };
  EXPECT_TRUE(made([](View &, View &) {}));
  EXPECT_TRUE(made([](View &whole, View &) { whole.strides[0] = 1; })); // of one row
  EXPECT_FALSE(made([](View &whole, View &) { whole.strides[1] = 2; }));
  EXPECT_FALSE(made([](View &whole, View &) { whole.buffer = argument; })); // which is written
  EXPECT_FALSE(made([](View &, View &part) {
    part.shape[1] = 8;
    part.strides[0] = 8;
  }));
}

TEST(StoredPlan, CellsReadASliceThatIsBiasOrInputWhereItLies) {
  auto made = [](const std::function<void(Cell &, View &, View &)> &change) {
    Cell cell;
    View whole = floats(constant, {1, 2 * cell.width}), part = floats(result, {1, 2 * cell.width});
    cell.sum.buffer = argument;
    cell.matmul.a.view.buffer = constant;
    change(cell, whole, part);
    cell.readSlice(whole, part);
    return cell.make() != nullptr;
  };
  EXPECT_TRUE(made([](Cell &cell, View &, View &) { cell.matmul.bias = floats(result, {2 * cell.width}); }));
  EXPECT_FALSE(made([](Cell &cell, View &, View &part) {
    cell.matmul.bias = floats(result, {2 * cell.width});
    part.offset = 1;
  }));
  EXPECT_FALSE(made([](Cell &, View &, View &) {})); // which nothing reads
  auto readsInput = [&](const std::function<void(View & gate, View & part)> &change) {
    return made([&](Cell &cell, View &, View &part) {
      cell.gates[1].buffer = result;
      change(cell.gates[1], part);
    });
  };
  EXPECT_TRUE(readsInput([](View &, View &) {}));
  EXPECT_FALSE(readsInput([](View &gate, View &) { gate.offset += 1; })); // beyond the part
  EXPECT_FALSE(readsInput([](View &, View &part) { part.offset = part.shape[1]; }));
  EXPECT_FALSE(readsInput([](View &gate, View &) { gate.strides[1] = -1; }));
}

TEST(StoredPlan, CellsWriteAResultIntoASlice) {
  Cell cell;
  const View whole = floats(argument, {3, cell.width}), part = floats(result, {1, cell.width});
  cell.matmul.a.view.buffer = constant;
  using enum SliceStep::Direction;
  auto writes = [&](const std::function<void(View & whole, View & part)> &change) {
    View to = whole, from = part;
    change(to, from);
    return cell.writes(Cell::sliceOf(Write, to, from));
  };
  EXPECT_TRUE(writes([](View &, View &) {}));
  EXPECT_FALSE(cell.writes(Cell::sliceOf(Read, whole, part)));
  EXPECT_FALSE(cell.writes(Cell::sliceOf(Write, whole, part, result)));    // a place that the cell computes
  EXPECT_FALSE(cell.writes(Cell::sliceOf(Write, whole, part, argument)));  // or writes
  EXPECT_FALSE(writes([](View &, View &part) { part.buffer = scratch; })); // the product
  EXPECT_FALSE(writes([](View &, View &part) { part.offset = 1; }));
  EXPECT_FALSE(writes([](View &, View &part) { part.shape[1] /= 2; }));
  EXPECT_FALSE(writes([](View &whole, View &) { whole.strides[1] = 2; }));
  for (BufferId used : {constant, scratch, result})
    EXPECT_FALSE(writes([&](View &whole, View &) { whole.buffer = used; }));
}

/// What a plan stores of a cell is verified as the two steps are, and as what they are together.
TEST(StoredPlan, CellsOfOtherColumnsAreRefused) {
  Plan plan = emptyPlan();
  plan.steps.push_back(Cell().make());
  std::string bytes = written(plan);
  int64_t offset = Cell().width;
  std::string from(reinterpret_cast<const char *>(&offset), sizeof offset);
  int refused = 0;
  for (size_t place = bytes.find(from); place != std::string::npos; place = bytes.find(from, place + 1)) {
    std::string changed = bytes;
    changed[place] = static_cast<char>(offset - 1);
    Plan again;
    Status status = read(changed, again);
    refused += !status && status.error().message ==
                              "step 0, of : a vector program that is not one on pieces of "
                              "the product's columns";
  }
  EXPECT_GT(refused, 0);
}

/// Of one channel, one pixel an image, and two taps of the depth; in constants and scratch.
Change convolutionInDepth(const DepthWindow &depth, int64_t dilation = 1,
                          const std::function<void(ConvolutionViews &)> &last = {}) {
  return [=](Plan &plan) {
    ConvolutionShape shape;
    shape.inputChannels = shape.outputChannels = 1;
    shape.inputHeight = shape.inputWidth = shape.outputHeight = shape.outputWidth = 1;
    shape.depth = depth;
    ConvolutionViews views;
    int64_t lanes = floatLanes(Isa::Baseline);
    views.input = floats(argument, {2 * lanes});
    views.weights = floats(constant, {1, 1, 1, 1, 2});
    views.result = floats(result, {lanes});
    views.workspace = denseView(scratch, ElementType::U8, {0});
    views.isConstant = true;
    if (last)
      last(views);
    ConvolutionPlan convolution = planConvolution(shape, Isa::Baseline, false, false);
    convolution.shape.dilation[1] = dilation;
    add<ConvolutionStep>(plan, PlannedConvolution(convolution, views));
  };
}

TEST(StoredPlan, WhatFollowsAnActivationIsAllThere) {
  int64_t lanes = floatLanes(Isa::Baseline);
  auto refused = [](const std::function<void(ConvolutionViews &)> &last) {
    return refusal(convolutionInDepth({2, 1, 2}, 1, last));
  };
  View channels = floats(argument, {lanes}), fewer = floats(argument, {lanes - 1});
  EXPECT_EQ(refused([&](ConvolutionViews &views) {
              views.slopes = views.factors = views.shifts = views.residual = channels;
              views.addsResidualLast = true;
            }),
            "accepted");
  for (auto view : {&ConvolutionViews::slopes, &ConvolutionViews::factors, &ConvolutionViews::shifts})
    EXPECT_EQ(refused([&](ConvolutionViews &views) {
                views.slopes = views.factors = views.shifts = channels;
                views.*view = fewer;
              }),
              fmt::format("step 0, of : elements: got {}, expected {}", lanes - 1, lanes));
  for (auto view : {&ConvolutionViews::factors, &ConvolutionViews::shifts})
    EXPECT_EQ(refused([&](ConvolutionViews &views) { views.*view = channels; }),
              "step 0, of : factors of channels without shifts, or shifts without factors");
  EXPECT_EQ(refused([](ConvolutionViews &views) { views.addsResidualLast = true; }),
            "step 0, of : a residual to be added last: got none");
}

TEST(StoredPlan, GatesHaveAllChannelsOfEachImage) {
  int64_t lanes = floatLanes(Isa::Baseline);
  auto refused = [&](int64_t elements) {
    return refusal([=](Plan &plan) {
      ConvolutionShape shape;
      shape.batch = 2;
      shape.inputChannels = lanes + 1;
      shape.outputChannels = shape.inputHeight = shape.inputWidth = 1;
      shape.outputHeight = shape.outputWidth = 1;
      ConvolutionViews views;
      views.input = floats(argument, {4 * lanes});
      views.weights = floats(constant, {1, lanes + 1, 1, 1, 1});
      views.gate = floats(argument, {elements});
      views.result = floats(result, {2 * lanes});
      views.workspace = denseView(scratch, ElementType::U8, {0});
      views.isConstant = true;
      add<ConvolutionStep>(plan,
                           PlannedConvolution(planConvolution(shape, Isa::Baseline, false, false), views));
    });
  };
  EXPECT_EQ(refused(4 * lanes), "accepted");
  EXPECT_EQ(refused(3 * lanes),
            fmt::format("step 0, of : elements: got {}, expected {}", 3 * lanes, 4 * lanes));
}

TEST(StoredPlan, PairsOfConvolutionsFitEachOther) {
  auto refused = [](const std::function<void(ConvolutionShape &, ConvolutionViews &)> &first,
                    const std::function<void(ConvolutionShape &, ConvolutionViews &)> &last) {
    return refusal([=](Plan &plan) {
      int64_t lanes = floatLanes(Isa::Baseline);
      ConvolutionShape point, window;
      point.inputHeight = point.outputHeight = window.inputHeight = window.outputHeight = 2;
      point.inputWidth = point.outputWidth = window.inputWidth = window.outputWidth = 1;
      point.inputChannels = 1;
      point.outputChannels = window.inputChannels = window.outputChannels = window.groups = 2;
      ConvolutionViews ofPoint, ofWindow;
      ofPoint.input = floats(argument, {2 * lanes});
      ofPoint.weights = floats(constant, {2, 1, 1, 1, 1});
      ofPoint.workspace = denseView(scratch, ElementType::U8, {0});
      ofWindow.weights = floats(constant, {2, 1, 1, 1, 1});
      ofWindow.result = floats(result, {2 * lanes});
      ofPoint.isConstant = ofWindow.isConstant = true;
      first(point, ofPoint);
      last(window, ofWindow);
      auto planned = [](const ConvolutionShape &shape, const ConvolutionViews &views) {
        return PlannedConvolution(planConvolution(shape, Isa::Baseline, false, false), views);
      };
      add<ConvolutionPairStep>(plan, planned(point, ofPoint), planned(window, ofWindow));
    });
  };
  auto as = [](ConvolutionShape &, ConvolutionViews &) {};
  constexpr auto unfit = "step 0, of : a convolution and a depthwise one of its result: got others";
  int64_t lanes = floatLanes(Isa::Baseline);
  EXPECT_EQ(refused(as, as), "accepted");
  EXPECT_EQ(refused(as, [](ConvolutionShape &shape,
                           ConvolutionViews &) { shape.inputHeight = shape.outputHeight = 1; }),
            unfit);
  EXPECT_EQ(refused([](ConvolutionShape &shape, ConvolutionViews &) { shape.batch = 2; }, as), unfit);
  EXPECT_EQ(refused([&](ConvolutionShape &,
                        ConvolutionViews &views) { views.residual = floats(argument, {2 * lanes}); },
                    as),
            unfit);
  EXPECT_EQ(
      refused([&](ConvolutionShape &, ConvolutionViews &views) { views.input = floats(argument, {lanes}); },
              as),
      fmt::format("step 0, of : elements: got {}, expected {}", lanes, 2 * lanes));
  EXPECT_EQ(refused(as, [&](ConvolutionShape &,
                            ConvolutionViews &views) { views.result = floats(result, {lanes}); }),
            fmt::format("step 0, of : elements: got {}, expected {}", lanes, 2 * lanes));
  auto gated = [&](ConvolutionShape &, ConvolutionViews &views) { views.gate = floats(argument, {lanes}); };
  EXPECT_EQ(refused(gated, as), unfit);
  EXPECT_EQ(refused(as, gated), "step 0, of : a gate of a convolution that takes none");
  EXPECT_EQ(refused(as, [](ConvolutionShape &shape, ConvolutionViews &) { shape.kernel[0] = 0; }),
            "step 0, of : kernel: got 0, expected 1 to 4096");
}

TEST(StoredPlan, WindowsAcrossImagesLieInThem) {
  EXPECT_EQ(refusal(convolutionInDepth({2, 1, 2})), "accepted");
  EXPECT_EQ(refusal(convolutionInDepth({2, 1, 2, 1, 5, 3})), "accepted"); // taps that meet nothing
  EXPECT_EQ(refusal(convolutionInDepth({2, 1, 2}, 3)), "step 0, of : dilation of one tap: got 3, expected 1");
  EXPECT_EQ(refusal(convolutionInDepth({3, 1, 2})), "step 0, of : elements: got 8, expected 12");
  EXPECT_EQ(refusal(convolutionInDepth({2, 2, 2})), "step 0, of : images: got 1, expected whole items of 2");
  EXPECT_EQ(refusal(convolutionInDepth({2, 0, 2})),
            "step 0, of : images of an item: got 0, expected 1 to 16777216");
  EXPECT_EQ(refusal(convolutionInDepth({2, 1, 3})),
            "step 0, of : weights: got [1, 1, 1, 1, 2], expected [1, 1, 1, 1, 3]");
  EXPECT_EQ(refusal(convolutionInDepth({2, 1, 2, 0})),
            "step 0, of : steps of the depth: got 0, expected 1 to 16777216");
  EXPECT_EQ(refusal(convolutionInDepth({2, 1, 2, 1, -1})),
            "step 0, of : padding of the depth: got -1, expected 0 to 16777216");
  auto pooling = [](const DepthWindow &depth) {
    return [=](Plan &plan) {
      int lanes = floatLanes(Isa::Baseline);
      PoolingArgs args;
      args.depth = depth;
      args.input = {nullptr, 2, 1, 1, 1, {}, lanes};
      args.output = {nullptr, 1, 1, 1, 1, {}, lanes};
      add<PoolingStep>(plan, args, floats(argument, {2 * lanes}), floats(result, {lanes}));
    };
  };
  EXPECT_EQ(refusal(pooling({2, 1, 2})), "accepted");
  EXPECT_EQ(refusal(pooling({3, 1, 2})), "step 0, of : images: got 2, expected 3");
  auto wide = [&](Plan &plan) {
    int lanes = floatLanes(Isa::Baseline);
    PoolingArgs args;
    args.kernel[0] = 300;
    args.kernel[1] = 400;
    args.input = args.output = {nullptr, 1, 1, 1, 1, {}, lanes};
    add<PoolingStep>(plan, args, floats(argument, {lanes}), floats(result, {lanes}));
  };
  EXPECT_EQ(refusal(wide), "step 0, of : taps of a window: got 120000, expected 1 to 65536");
}

TEST(StoredPlan, GradientsOfWeightsLieInTheirBuffers) {
  auto gradient = [](int64_t groups, int64_t padding, int64_t halo, int64_t workspace) {
    return [=](Plan &plan) {
      int lanes = floatLanes(Isa::Baseline);
      WeightGradientArgs args;
      args.groups = groups;
      args.kernel[1] = 2;
      args.padding[1] = padding;
      args.input = {nullptr, 1, 2, 1, 1, {0, halo}, lanes};
      args.pixels = {nullptr, 1, 2, 1, 1, {}, lanes};
      View space = denseView(scratch, ElementType::U8, {workspace});
      int64_t columns = 1 + 2 * halo;
      add<WeightGradientStep>(plan, args, floats(argument, {columns * lanes}), floats(constant, {lanes}),
                              space, floats(result, {2, 2 / std::max<int64_t>(groups, 1), 1, 2}));
    };
  };
  EXPECT_EQ(refusal(gradient(2, 0, 1, 0)), "accepted");
  EXPECT_EQ(refusal(gradient(2, 1, 0, 0)),
            "step 0, of : halo: got 0 rows and 0 columns, expected 0 and 1 at least");
  EXPECT_EQ(refusal(gradient(1, 1, 1, 64)), "step 0, of : elements: got 64, expected 128");
  EXPECT_EQ(refusal(gradient(0, 1, 1, 64)),
            "step 0, of : channels: got 2 and 2, expected 0 groups of as many");
  EXPECT_EQ(refusal(gradient(2, -1, 1, 0)), "step 0, of : padding: got -1, expected 0 to 16777216");
}

TEST(StoredPlan, WeightsArePackedOfTheArgumentThatTheyLieIn) {
  Matmul matmul;
  matmul.m = matmul.k = matmul.n = 4;
  matmul.a = {floats(argument, {4, 4}), 0, 4, 1};
  matmul.b = {floats(constant, {4, 4}), 0, 4, 1};
  matmul.result = floats(result, {4, 4});
  auto add = [&](Plan &plan) { cpu::add<MatmulStep>(plan, matmul, Isa::Baseline); };
  EXPECT_EQ(refusal(add), "step 0, of : weights: a constant, or none");
  matmul.isConstant = true;
  EXPECT_EQ(refusal(add), "accepted");
  matmul.weight = 1;
  EXPECT_EQ(refusal(add), "step 0, of : weights that are packed of another argument than they lie in");
  matmul.weight.reset();
  matmul.k = 5;
  EXPECT_EQ(refusal(add), "step 0, of : a view from element 0 on that leaves its buffer of 64 bytes");
}

TEST(StoredPlan, ChosenMatricesLieInTheirBuffers) {
  Matmul matmul;
  matmul.m = 1;
  matmul.k = matmul.n = 2;
  matmul.a = {floats(argument, {1, 2}), 0, 2, 1};
  matmul.b = {floats(constant, {2, 2}), 4, 2, 1};
  matmul.result = floats(result, {1, 2});
  matmul.isConstant = true;
  matmul.choices = 4;
  matmul.choice = denseView(index, ElementType::I64, {});
  auto refuse = [&](auto change) {
    Matmul changed = matmul;
    change(changed);
    return refusal([&](Plan &plan) { cpu::add<MatmulStep>(plan, changed, Isa::Baseline); });
  };
  EXPECT_EQ(refuse([](Matmul &) {}), "accepted");
  EXPECT_EQ(refuse([](Matmul &chosen) { chosen.choices = 5; }),
            "step 0, of : a view from element 0 on that leaves its buffer of 64 bytes");
  EXPECT_EQ(refuse([](Matmul &chosen) { chosen.choices = 0; }),
            "step 0, of : matrices: got 0, expected 1 to 1099511627776");
  EXPECT_EQ(refuse([](Matmul &chosen) { chosen.choice->type = ElementType::F32; }),
            "step 0, of : an integer: got f32");
  EXPECT_EQ(refuse([](Matmul &chosen) { chosen.batches = 2; }),
            "step 0, of : batches of products with a chosen matrix: got 2, expected 1");
}

TEST(StoredPlan, ProductsOfBytesGiveWords) {
  Matmul matmul;
  matmul.m = matmul.k = matmul.n = 4;
  matmul.type = DType::I8;
  matmul.leftType = DType::U8;
  matmul.resultType = DType::I32;
  matmul.a = {denseView(argument, ElementType::U8, {4, 4}), 0, 4, 1};
  matmul.b = {denseView(constant, ElementType::I8, {4, 4}), 0, 4, 1};
  matmul.result = denseView(result, ElementType::I32, {4, 4});
  matmul.isConstant = true;
  auto refuse = [&](auto change) {
    Matmul changed = matmul;
    change(changed);
    return refusal([&](Plan &plan) { cpu::add<MatmulStep>(plan, changed, Isa::Baseline); });
  };
  EXPECT_EQ(refuse([](Matmul &) {}), "accepted");
  EXPECT_EQ(refuse([](Matmul &bytes) { bytes.leftType = DType::F32; }),
            "step 0, of : a product of f32 and i8");
  EXPECT_EQ(refuse([](Matmul &bytes) { bytes.resultType = DType::I8; }),
            "step 0, of : a product of i8 in i8");
  EXPECT_EQ(refuse([](Matmul &bytes) { bytes.activation = Activation::Relu; }),
            "step 0, of : what follows a product of integers");
  EXPECT_EQ(refuse([](Matmul &bytes) { bytes.leftType = DType::I8; }),
            "step 0, of : elements: got ui8, expected i8");
}

TEST(StoredPlan, ValuesOfLoopsThatChangePlacesAreWholeBuffers) {
  constexpr BufferId one = 6, two = 7;
  auto refuse = [](std::vector<Swap> swaps, int64_t bytes = 64) {
    return refusal([&](Plan &plan) {
      plan.buffers.push_back({Home::Arena, 0, 64, 64});
      plan.buffers.push_back({Home::Arena, 0, bytes, 128});
      plan.arenaBytes = 192;
      LoopCount count;
      count.counter = denseView(scratch, ElementType::I64, {});
      count.limit = denseView(constant, ElementType::I64, {});
      add<CountedLoopStep>(plan, count, Steps(), swaps);
    });
  };
  View whole = floats(one, {16}), other = floats(two, {16});
  EXPECT_EQ(refuse({{whole, other}}), "accepted");
  EXPECT_EQ(refuse({{whole, floats(two, {15})}}),
            "step 0, of : values that change places: a view that is not its whole buffer");
  EXPECT_EQ(refuse({{whole, whole}}), "step 0, of : values that change places: one buffer");
  EXPECT_EQ(refuse({{whole, floats(constant, {16})}}), "step 0, of : a constant that is written");
  EXPECT_EQ(refuse({{whole, floats(scratch, {16})}}),
            "step 0, of : values that change places: a buffer with parts");
  EXPECT_EQ(refuse({{whole, floats(two, {8})}}, 32),
            "step 0, of : bytes of values that change places: got 32, expected 64");
  EXPECT_EQ(refuse({{whole, other}, {other, floats(result, {16})}}),
            "step 0, of : values that change places: a buffer is in two of them");
}

/// What is gone is only there for who packs it.
TEST(StoredPlan, ValuesThatAreGoneAreNotRead) {
  Plan plan = emptyPlan(), again;
  add<CopyStep>(plan, floats(argument, {4}), floats(result, {4}));
  std::string bytes = written(plan);
  PlanReader reader(bytes, Isa::Baseline);
  reader.getPlan(again, {true, false});
  EXPECT_EQ(reader.finish().error().message, "step 0, of : a value that steps only pack: got argument 0");
}

TEST(StoredPlan, StepsInStepsEnd) {
  Plan plan = emptyPlan();
  View predicate = denseView(constant, ElementType::Bool, {});
  Steps body;
  for (int depth = 0; depth < 300; ++depth) {
    auto loop = std::make_unique<const LoopStep>(Steps(), predicate, std::move(body), std::vector<Swap>());
    body = Steps();
    body.push_back(std::move(loop));
  }
  plan.steps = std::move(body);
  PlanWriter writer;
  writer.putPlan(plan);
  EXPECT_EQ(writer.finish().error().message, "[loop] a step that is not stored");
}

} // namespace
} // namespace torchere::cpu
