// Matrix products of groups of rows, each with a matrix of its own, as mixtures of experts have them.
#include "lowering/elementwise.h"
#include "lowering/op_table.h"
#include "lowering/region.h"

#include <algorithm>

namespace torchere::lowering {

namespace {

using Direction = stablehlo::ComparisonDirection;

/// How many rows are multiplied at once. A group takes as many rounds as it has such blocks, at least one if
/// it has any row.
constexpr int64_t blockRows = 64;

/// Which group a row is in: how many groups end at or before it.
mlir::Value groupOf(Context &cx, mlir::Value row, mlir::Value ends) {
  mlir::Value isEnded = cx.compare(Direction::LE, ends, cx.broadcastTo(row, cx.shape(ends)));
  return cx.reduceWith<stablehlo::AddOp>(cx.convert(isEnded, DType::I64), cx.constant(int64_t{0}, DType::I64),
                                         {0});
}

/// `count` slices along the first axis, from a place that is known only at run time.
mlir::Value slicesFrom(Context &cx, mlir::Value value, mlir::Value start, int64_t count) {
  Dims shape = cx.shape(value);
  shape[0] = count;
  Integers sizes;
  for (const Dim &dim : shape)
    sizes.push_back(dim.constant());
  Values operands = {value, start};
  operands.append(shape.size() - 1, cx.constant(int64_t{0}, DType::I64));
  return cx.create<stablehlo::DynamicSliceOp>(cx.tensorType(shape, Context::elementType(value)), operands,
                                              {cx.integersAttribute("slice_sizes", sizes)});
}

/// A round's state: the first row that is left, the rows, the matrices, the ends of the groups, the result.
enum State { Row, Rows, Matrices, Ends, Output };

/// Multiplies a block of rows of one group. Rows of the block behind the group's end keep what they have.
Values multiplyBlock(Context &cx, mlir::ValueRange state, int64_t size) {
  mlir::Value group = groupOf(cx, state[Row], state[Ends]);
  mlir::Value end = cx.reshape(slicesFrom(cx, state[Ends], group, 1), {});
  mlir::Value matrix = slicesFrom(cx, state[Matrices], group, 1);
  matrix = cx.reshape(matrix, llvm::ArrayRef<Dim>(cx.shape(matrix)).drop_front());
  mlir::Value rows = slicesFrom(cx, state[Rows], state[Row], size);
  mlir::Value product = cx.dotGeneral(rows, matrix, /*batch=*/0, /*lhsAxis=*/1, /*rhsAxis=*/0);
  Dims block = cx.shape(product);
  mlir::Value places =
      cx.elementwise<stablehlo::AddOp>({cx.iota(block, DType::I64, 0), cx.broadcastTo(state[Row], block)});
  mlir::Value isInGroup = cx.compare(Direction::LT, places, cx.broadcastTo(end, block));
  mlir::Value current = slicesFrom(cx, state[Output], state[Row], size);
  mlir::Value zero = cx.constant(int64_t{0}, DType::I64);
  mlir::Value output = cx.create<stablehlo::DynamicUpdateSliceOp>(
      state[Output].getType(), {state[Output], cx.select(isInGroup, product, current), state[Row], zero});
  mlir::Value following = cx.elementwise<stablehlo::AddOp>({state[Row], cx.constant(int64_t{1}, DType::I64)});
  mlir::Value behind = cx.elementwise<stablehlo::AddOp>({state[Row], cx.constant(size, DType::I64)});
  mlir::Value next = cx.elementwise<stablehlo::MinOp>({behind, end});
  // Ends that do not ascend must not make the loop stand still.
  next = cx.elementwise<stablehlo::MaxOp>({next, following});
  return {next, state[Rows], state[Matrices], state[Ends], output};
}

/// Rows [S, K] in groups that end at `ends` [groups], each with its matrix of [groups, K, N], give [S, N].
/// Rows behind the last group are zero.
mlir::Value multiplyGroups(Context &cx, mlir::Value rows, mlir::Value matrices, mlir::Value ends) {
  Dims shape = {cx.size(rows, 0), cx.size(matrices, 2)};
  int64_t size = shape[0].isConstant() ? std::min(blockRows, shape[0].constant()) : blockRows;
  // A block may begin at the last row.
  mlir::Value zero = cx.constant(int64_t{0}, Context::elementType(rows));
  Dims none = {0, 0}, more = {size, 0};
  rows = cx.pad(rows, zero, none, more, {0, 0});
  Dims padded = {cx.size(rows, 0), shape[1]};
  ends = cx.convert(ends, DType::I64);
  Values state = {cx.constant(int64_t{0}, DType::I64), rows, matrices, ends,
                  cx.full(int64_t{0}, Context::dtype(rows), padded)};
  auto isLeft = [&](mlir::ValueRange values) {
    mlir::Value last =
        cx.reduceWith<stablehlo::MaxOp>(values[Ends], cx.constant(int64_t{0}, DType::I64), {0});
    return Values{cx.compare(Direction::LT, values[Row], last)};
  };
  Values done = repeatWhile(cx, state, isLeft,
                            [&](mlir::ValueRange values) { return multiplyBlock(cx, values, size); });
  return cx.sliceAxis(done[Output], 0, 0, shape[0]);
}

Result<mlir::Value> multiplyRowGroups(Context &cx, mlir::Value rows, mlir::Value matrices, mlir::Value ends) {
  bool isKnown =
      cx.size(rows, 1).isConstant() && cx.size(matrices, 1).isConstant() && cx.size(matrices, 2).isConstant();
  if (!isKnown)
    return cx.unimplemented("matrices whose sizes are known only at run time are not supported");
  if (cx.size(rows, 0).is(0) || cx.size(ends, 0).is(0))
    return cx.full(int64_t{0}, Context::dtype(rows), {cx.size(rows, 0), cx.size(matrices, 2)});
  return multiplyGroups(cx, rows, matrices, ends);
}

/// The op by which transformers' models run in torch versions and dtypes that have no grouped product.
Result<mlir::Value> groupedFallback(Context &cx, const Args &args) {
  return multiplyRowGroups(cx, args.tensor("input"), args.tensor("weight"), args.tensor("offs"));
}

Result<mlir::Value> groupedProduct(Context &cx, const Args &args) {
  const TensorType &type = cx.resultType();
  mlir::Value self = args.tensor("self"), mat2 = args.tensor("mat2");
  if (!args.isNone("bias"))
    return cx.unimplemented("a bias is not supported: expected none");
  if (Context::rank(self) == 3 && Context::rank(mat2) == 3)
    return cx.convert(cx.dotGeneral(self, mat2, /*batch=*/1, /*lhsAxis=*/2, /*rhsAxis=*/1), type.dtype);
  if (Context::rank(self) != 2 || Context::rank(mat2) != 3 || args.isNone("offs"))
    return cx.unimplemented("only rows in groups are supported: got tensors of {} and {} dimensions, "
                            "expected 2 and 3, or 3 and 3",
                            Context::rank(self), Context::rank(mat2));
  TORCHERE_ASSIGN(mlir::Value product, multiplyRowGroups(cx, self, mat2, args.tensor("offs")));
  return cx.convert(product, type.dtype);
}

} // namespace

void addGroupedProduct(OpTable &table) {
  table.add("aten::_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, "
            "ScalarType? out_dtype=None) -> Tensor",
            groupedProduct);
  table.add("transformers::grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor",
            groupedFallback);
}

} // namespace torchere::lowering
