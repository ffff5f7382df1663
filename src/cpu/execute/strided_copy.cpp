// Implements copies between strides: the kernel, for each index of the dimensions that it does not take.
#include "cpu/execute/strided_copy.h"

#include "cpu/kernels/movement.h"

namespace torchere::cpu {

/// Copies the dimensions from `first` on.
static void copyInner(const Context &context, const Walk &walk, size_t first, int elementSize,
                      const std::byte *from, std::byte *to) {
  if (walk.shape.size() - first > kMaxRank) {
    for (int64_t i = 0; i < walk.shape[first]; ++i)
      copyInner(context, walk, first + 1, elementSize, from + i * walk.strides[0][first] * elementSize,
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

void copyElements(const Context &context, const Sizes &shape, int elementSize, const std::byte *from,
                  const Sizes &fromStrides, std::byte *to, const Sizes &toStrides) {
  if (elementCount(shape) == 0)
    return;
  const Sizes *strides[] = {&fromStrides, &toStrides};
  copyInner(context, walkOver(shape, strides), 0, elementSize, from, to);
}

} // namespace torchere::cpu
