// Blocks that slide over an image, as columns: im2col, and col2im, which adds them up again.
#include "lowering/elementwise.h"
#include "lowering/op_table.h"
#include "lowering/placement.h"

namespace torchere::lowering {

namespace {

/// The blocks along one of the two spatial axes.
struct Blocks {
  int64_t axis;
  Dim image, count; ///< sizes of the image and how many blocks fit
  int64_t size, dilation, padding, stride;
};

/// Over an image whose last dimensions are `image`.
llvm::SmallVector<Blocks, 2> blocksOf(Context &cx, const Args &args, llvm::ArrayRef<Dim> image) {
  Integers size = args.integers("kernel_size", 2), dilation = args.integers("dilation", 2);
  Integers padding = args.integers("padding", 2), stride = args.integers("stride", 2);
  llvm::SmallVector<Blocks, 2> blocks;
  for (size_t i = 0; i < 2; ++i) {
    Dim covered = cx.add(image[i], 2 * padding[i] - dilation[i] * (size[i] - 1) - 1);
    blocks.push_back({static_cast<int64_t>(2 + i), image[i], cx.add(cx.floorDivide(covered, stride[i]), 1),
                      size[i], dilation[i], padding[i], stride[i]});
  }
  return blocks;
}

/// Where each element of each block lies on the padded image: [size, count].
mlir::Value placesOf(Context &cx, const Blocks &blocks) {
  Dims shape = {Dim(blocks.size), blocks.count};
  auto scaled = [&](int64_t axis, int64_t factor) {
    mlir::Value index = cx.iota(shape, DType::I64, axis);
    return cx.elementwise<stablehlo::MulOp>({index, cx.fullLike(factor, index)});
  };
  return cx.elementwise<stablehlo::AddOp>({scaled(0, blocks.dilation), scaled(1, blocks.stride)});
}

/// [N, C, H, W], or one sample without the N.
mlir::Value batched(Context &cx, mlir::Value value, int64_t rank) {
  Dims shape = cx.shape(value);
  if (static_cast<int64_t>(shape.size()) < rank)
    shape.insert(shape.begin(), Dim(1));
  return cx.reshape(value, shape);
}

mlir::Value imageToColumns(Context &cx, const Args &args) {
  mlir::Value value = batched(cx, args.tensor("self"), 4);
  Dims shape = cx.shape(value);
  auto blocks = blocksOf(cx, args, {shape[2], shape[3]});
  Dims around = {0, 0, blocks[0].padding, blocks[1].padding};
  mlir::Value zero = cx.constant(int64_t{0}, Context::elementType(value));
  value = cx.pad(value, zero, around, around, Integers(4, 0));
  value = gatherSlices(cx, value, slicesAlong(cx, placesOf(cx, blocks[1]), 3));
  value = gatherSlices(cx, value, slicesAlong(cx, placesOf(cx, blocks[0]), 2));
  return cx.reshape(cx.transpose(value, {0, 1, 2, 4, 3, 5}), cx.resultType().shape);
}

/// Adds the blocks along an axis, [..., size, count, ...], to the image, padding included.
mlir::Value addBlocks(Context &cx, mlir::Value value, const Blocks &blocks) {
  Dims shape = cx.shape(value);
  shape.erase(shape.begin() + blocks.axis);
  shape[blocks.axis] = cx.add(blocks.image, 2 * blocks.padding);
  mlir::Value zeros = cx.full(int64_t{0}, Context::dtype(value), shape);
  return scatterSlices(cx, zeros, slicesAlong(cx, placesOf(cx, blocks), blocks.axis), value,
                       combineUpdate<stablehlo::AddOp>);
}

mlir::Value columnsToImage(Context &cx, const Args &args) {
  const TensorType &type = cx.resultType();
  mlir::Value value = batched(cx, cx.convert(args.tensor("self"), computeType(type.dtype)), 3);
  llvm::ArrayRef<Dim> result(type.shape);
  auto blocks = blocksOf(cx, args, result.take_back(2));
  Dims split = {cx.size(value, 0),   result[result.size() - 3], Dim(blocks[0].size),
                Dim(blocks[1].size), blocks[0].count,           blocks[1].count};
  value = cx.transpose(cx.reshape(value, split), {0, 1, 2, 4, 3, 5});
  value = addBlocks(cx, addBlocks(cx, value, blocks[0]), blocks[1]);
  for (const Blocks &along : blocks)
    value = cx.sliceAxis(value, along.axis, along.padding, cx.add(along.image, along.padding));
  return cx.convert(cx.reshape(value, type.shape), type.dtype);
}

} // namespace

void addSlidingBlock(OpTable &table) {
  table.add("aten::im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) "
            "-> Tensor",
            imageToColumns);
  table.add("aten::col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, "
            "int[2] padding, int[2] stride) -> Tensor",
            columnsToImage);
}

} // namespace torchere::lowering
