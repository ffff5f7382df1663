// Runs of vector programs in tests.
#pragma once

#include "../kernels/test_values.h"
#include "cpu/vector/vector_plan.h"

#include <limits>

namespace torchere::cpu {

/// An operand in memory; strides in elements.
struct Operand {
  void *data = nullptr;
  VectorStrides strides = {};
};

inline void runProgram(const Context &context, const VectorProgram &program, const std::vector<int64_t> &dims,
                       const std::vector<Operand> &inputs, const std::vector<Operand> &outputs) {
  VectorWalk walk;
  walk.rank = static_cast<int>(dims.size());
  std::copy(dims.begin(), dims.end(), walk.dims.begin());
  std::vector<const void *> from;
  std::vector<void *> to;
  for (const Operand &input : inputs) {
    walk.inputs.push_back(input.strides);
    from.push_back(input.data);
  }
  for (const Operand &output : outputs) {
    walk.outputs.push_back(output.strides);
    to.push_back(output.data);
  }
  VectorPlan(program, context.isa, walk).run(context, from.data(), to.data());
}

inline constexpr float kInf = std::numeric_limits<float>::infinity();

/// Runs programs, and ops alone.
class ProgramRuns : public EveryIsa {
protected:
  template <class T, class R>
  std::vector<R> apply1(VectorOp op, DType type, DType result, const std::vector<T> &x) {
    VectorBuilder builder;
    builder.output(builder.apply(op, builder.input(type)), result);
    std::vector<R> y(x.size());
    run(builder, {int64_t(x.size())}, {{const_cast<T *>(x.data()), {1}}}, {{y.data(), {1}}});
    return y;
  }
  template <class T, class R>
  std::vector<R> apply2(VectorOp op, DType type, DType result, const std::vector<T> &x,
                        const std::vector<T> &y) {
    VectorBuilder builder;
    auto a = builder.input(type), b = builder.input(type);
    builder.output(builder.apply(op, a, b), result);
    std::vector<R> z(x.size());
    run(builder, {int64_t(x.size())}, {{const_cast<T *>(x.data()), {1}}, {const_cast<T *>(y.data()), {1}}},
        {{z.data(), {1}}});
    return z;
  }
  void run(const VectorBuilder &builder, std::vector<int64_t> dims, std::vector<Operand> inputs,
           std::vector<Operand> outputs, bool hasWholeRows = false) {
    auto program = hasWholeRows ? builder.finishWholeRows() : builder.finish();
    ASSERT_TRUE(program.has_value()) << program.error().message;
    ASSERT_TRUE(program->verify().has_value()) << program->verify().error().message;
    runProgram(context, *program, dims, inputs, outputs);
  }
};

} // namespace torchere::cpu
