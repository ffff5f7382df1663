// Implements copies between strides: the kernel, for each index of the dimensions that it does not take.
#include "cpu/execute/strided_copy.h"

#include "cpu/kernels/movement.h"

namespace torchere::cpu {

static Walk walkOf(const Sizes &shape, const Sizes &fromStrides, const Sizes &toStrides) {
  const Sizes *strides[] = {&fromStrides, &toStrides};
  return walkOver(shape, strides);
}

StridedCopy::StridedCopy(const Sizes &shape, int elementSize, const Sizes &fromStrides,
                         const Sizes &toStrides)
    : walk(walkOf(shape, fromStrides, toStrides)), elementSize(elementSize),
      isEmpty(elementCount(shape) == 0) {}

/// Copies the dimensions from `first` on.
void StridedCopy::runInner(const Context &context, size_t first, const std::byte *from, std::byte *to) const {
  if (walk.shape.size() - first > kMaxRank) {
    for (int64_t i = 0; i < walk.shape[first]; ++i)
      runInner(context, first + 1, from + i * walk.strides[0][first] * elementSize,
               to + i * walk.strides[1][first] * elementSize);
    return;
  }
  CopyArgs args;
  args.elementSize = elementSize;
  args.rank = static_cast<int>(walk.shape.size() - first);
  for (size_t i = first; i < walk.shape.size(); ++i) {
    args.dims[i - first] = walk.shape[i];
    args.inputStrides[i - first] = walk.strides[0][i];
    args.outputStrides[i - first] = walk.strides[1][i];
  }
  args.input = from;
  args.output = to;
  copyStrided(context, args);
}

void StridedCopy::run(const Context &context, const std::byte *from, std::byte *to) const {
  if (!isEmpty)
    runInner(context, 0, from, to);
}

} // namespace torchere::cpu
