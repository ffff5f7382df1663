// As many matrices as a vector has lanes are transposed, so that each of their elements is a vector.
#include "cpu/kernels/small_systems.h"

#include "cpu/kernels/isa_dispatch.h"
#include "cpu/kernels/matrix_types.h"

#include <cstring>

namespace torchere::cpu {
namespace {

constexpr int64_t kMostSide = 12;     ///< rows and columns
constexpr int64_t kMostNumbers = 256; ///< of one matrix's right side
// Scratch slots.
constexpr int kMatrices = 0;
constexpr int kRightSides = 1;

bool isReal(DType type) {
  return type == DType::F32 || type == DType::F64;
}

/// Matrices of `count` numbers each, of which a group has one in each lane. Lanes that are left over have
/// zeros.
template <class T> struct Group {
  const IsaKernels &kernels;
  int64_t lanes, used;

  void read(const T *from, int64_t count, T *to) const {
    if (used < lanes)
      std::memset(to, 0, static_cast<size_t>(count * lanes) * sizeof(T));
    kernels.transpose[sizeof(T) == 8 ? 3 : 2](from, count, to, lanes, used, count);
  }
  void write(const T *from, int64_t count, T *to) const {
    kernels.transpose[sizeof(T) == 8 ? 3 : 2](from, lanes, to, count, count, used);
  }
  /// Integers of a number's size.
  void writePlaces(const void *from, int64_t count, int32_t first, int32_t *to) const {
    using Place = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
    for (int64_t lane = 0; lane < used; ++lane)
      for (int64_t i = 0; i < count; ++i)
        to[lane * count + i] =
            static_cast<int32_t>(static_cast<const Place *>(from)[i * lanes + lane]) + first;
  }
};

/// function(group, its first matrix), in parts as matrices by themselves have them.
template <class T, class Function>
void forEachGroup(const Context &context, int64_t batches, int64_t work, Function function) {
  const IsaKernels &kernels = kernelsOf(context.isa);
  const int64_t lanes = kernels.lanes * 4 / static_cast<int64_t>(sizeof(T));
  forEachMatrix(context, divideUp(batches, lanes), work, [&](int64_t index) {
    int64_t first = index * lanes;
    function(Group<T>{kernels, lanes, std::min(lanes, batches - first)}, first);
  });
}

template <class T> void factorizeGroup(const LuArgs &args, const Group<T> &group, int64_t first) {
  const int64_t count = args.rows * args.columns, steps = std::min(args.rows, args.columns),
                lanes = group.lanes;
  const int64_t rows = count + steps + args.rows + 1; // of vectors: elements, then places
  auto *matrices =
      static_cast<T *>(ThreadPool::scratch(static_cast<size_t>(rows * lanes) * sizeof(T), kMatrices));
  LuLanesJob job{matrices, args.rows, args.columns};
  job.pivots = matrices + count * lanes;
  job.permutation = matrices + (count + steps) * lanes;
  job.firstZero = matrices + (count + steps + args.rows) * lanes;
  group.read(static_cast<const T *>(args.input) + first * count, count, matrices);
  group.kernels.factorizeLanes[sizeof(T) == 8](job);
  group.write(matrices, count, static_cast<T *>(args.output) + first * count);
  group.writePlaces(job.pivots, steps, args.firstRow, args.pivots + first * steps);
  group.writePlaces(job.permutation, args.rows, 0, args.permutation + first * args.rows);
  group.writePlaces(job.firstZero, 1, 0, args.firstZero + first);
}

template <class T> void solveGroup(const TriangularSolveArgs &args, const Group<T> &group, int64_t first) {
  const int64_t size = args.size, count = size * size, numbers = size * args.columns, lanes = group.lanes;
  auto *a = static_cast<T *>(ThreadPool::scratch(static_cast<size_t>(count * lanes) * sizeof(T), kMatrices));
  auto *x =
      static_cast<T *>(ThreadPool::scratch(static_cast<size_t>(numbers * lanes) * sizeof(T), kRightSides));
  group.read(static_cast<const T *>(args.a) + first * count, count, a);
  group.read(static_cast<const T *>(args.b) + first * numbers, numbers, x);
  const bool isTurned = args.isTransposed == args.isLeft; // x A = b is A^T x^T = b^T
  SolveLanesJob job{a, isTurned ? 1 : size, isTurned ? size : 1, x, 1, size, size, args.columns, args.isUnit};
  if (args.isLeft) {
    job.xRowStride = args.columns;
    job.xColumnStride = 1;
  }
  if ((args.isLower != args.isTransposed) != args.isLeft) { // an upper triangle, from its end
    job.a = a + (count - 1) * lanes;
    job.aRowStride = -job.aRowStride;
    job.aColumnStride = -job.aColumnStride;
    job.x = x + (size - 1) * job.xRowStride * lanes;
    job.xRowStride = -job.xRowStride;
  }
  group.kernels.solveLanes[sizeof(T) == 8](job);
  group.write(x, numbers, static_cast<T *>(args.output) + first * numbers);
}

} // namespace

bool areSmall(const LuArgs &args) {
  return isReal(args.type) && args.batches > 1 && args.rows <= kMostSide && args.columns <= kMostSide;
}

bool areSmall(const TriangularSolveArgs &args) {
  return isReal(args.type) && args.batches > 1 && args.size <= kMostSide &&
         args.size * args.columns <= kMostNumbers;
}

void factorizeSmall(const Context &context, const LuArgs &args) {
  auto run = [&]<class T>(T) {
    forEachGroup<T>(context, args.batches, 8 * args.rows * args.columns * std::min(args.rows, args.columns),
                    [&](const Group<T> &group, int64_t first) { factorizeGroup(args, group, first); });
  };
  args.type == DType::F64 ? run(double()) : run(float());
}

void solveSmall(const Context &context, const TriangularSolveArgs &args) {
  auto run = [&]<class T>(T) {
    forEachGroup<T>(context, args.batches, 4 * args.size * args.size * (args.columns + 2),
                    [&](const Group<T> &group, int64_t first) { solveGroup(args, group, first); });
  };
  args.type == DType::F64 ? run(double()) : run(float());
}

} // namespace torchere::cpu
