// Ops that reshape, move and join elements without computing with them.
#include "lowering/elementwise.h"
#include "lowering/op_table.h"

#include <algorithm>
#include <numeric>

namespace torchere::lowering {

namespace {

/// Passes values through; the program's functional form has no aliases.
mlir::Value sameValue(Context &, const Args &args) {
  return args.tensor("self");
}

/// The result's sizes determine the op: view, squeeze, unsqueeze.
mlir::Value toResultSizes(Context &cx, const Args &args) {
  return cx.reshape(args.tensor("self"), cx.resultType().shape);
}

mlir::Value expand(Context &cx, const Args &args) {
  return cx.broadcastTo(args.tensor("self"), cx.resultType().shape);
}

Result<mlir::Value> permute(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  TORCHERE_ASSIGN(Integers permutation, cx.axes(args.integers("dims"), Context::rank(self)));
  return cx.transpose(self, permutation);
}

Result<mlir::Value> transposeTwo(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  int64_t rank = Context::rank(self);
  bool isOfAxes = args.has("axis0");
  TORCHERE_ASSIGN(int64_t first, cx.axis(args.integer(isOfAxes ? "axis0" : "dim0"), rank));
  TORCHERE_ASSIGN(int64_t second, cx.axis(args.integer(isOfAxes ? "axis1" : "dim1"), rank));
  if (rank == 0)
    return self;
  Integers permutation(rank);
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[first], permutation[second]);
  return cx.transpose(self, permutation);
}

mlir::Value transposeMatrix(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  return Context::rank(self) == 2 ? cx.transpose(self, {1, 0}) : self;
}

/// A legacy rule of torch.cat: 1-d tensors of size 0 are skipped whatever the rank of the others.
Values withoutLegacyEmpties(const Values &tensors) {
  Values result;
  for (mlir::Value tensor : tensors) {
    auto type = mlir::cast<mlir::RankedTensorType>(tensor.getType());
    if (!(type.getRank() == 1 && type.getDimSize(0) == 0))
      result.push_back(tensor);
  }
  return result;
}

Result<mlir::Value> concatenate(Context &cx, const Args &args) {
  const TensorType &type = cx.resultType();
  Values tensors = withoutLegacyEmpties(args.tensors("tensors"));
  if (tensors.empty())
    return cx.full(int64_t{0}, type.dtype, type.shape);
  for (mlir::Value &tensor : tensors)
    tensor = cx.convert(tensor, type.dtype);
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), static_cast<int64_t>(type.shape.size())));
  return cx.concatenate(tensors, axis);
}

Result<mlir::Value> stack(Context &cx, const Args &args) {
  const TensorType &type = cx.resultType();
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), static_cast<int64_t>(type.shape.size())));
  Dims shape = type.shape;
  shape[axis] = 1;
  Values tensors = args.tensors("tensors");
  for (mlir::Value &tensor : tensors)
    tensor = cx.reshape(cx.convert(tensor, type.dtype), shape);
  return cx.concatenate(tensors, axis);
}

Result<mlir::Value> flip(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  TORCHERE_ASSIGN(Integers axes, cx.axes(args.integers("dims"), Context::rank(self)));
  if (Context::rank(self) == 0 || axes.empty())
    return self;
  return cx.withShape(
      cx.create<stablehlo::ReverseOp>(self.getType(), self, {cx.integersAttribute("dimensions", axes)}),
      cx.shape(self));
}

} // namespace

void addShape(OpTable &table) {
  table.add("aten::alias(Tensor(a) self) -> Tensor(a)", sameValue);
  table.add("aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", sameValue);
  table.add("aten::detach(Tensor(a) self) -> Tensor(a)", sameValue);
  table.add("aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)", toResultSizes);
  table.add("aten::_unsafe_view(Tensor self, SymInt[] size) -> Tensor", toResultSizes);
  table.add("aten::view_copy(Tensor self, SymInt[] size) -> Tensor", toResultSizes);
  table.add("aten::detach_copy(Tensor self) -> Tensor", sameValue);
  table.add("aten::unsqueeze(Tensor(a) self, int dim) -> Tensor(a)", toResultSizes);
  table.add("aten::squeeze(Tensor(a) self) -> Tensor(a)", toResultSizes);
  table.add("aten::squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)", toResultSizes);
  table.add("aten::squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)", toResultSizes);
  table.add("aten::expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)", expand);
  table.add("aten::permute(Tensor(a) self, int[] dims) -> Tensor(a)", permute);
  table.add("aten::permute_copy(Tensor self, int[] dims) -> Tensor", permute);
  table.add("aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", transposeTwo);
  table.add("aten::swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)", transposeTwo);
  table.add("aten::swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", transposeTwo);
  table.add("aten::t(Tensor(a) self) -> Tensor(a)", transposeMatrix);
  table.add("aten::cat(Tensor[] tensors, int dim=0) -> Tensor", concatenate);
  table.add("aten::stack(Tensor[] tensors, int dim=0) -> Tensor", stack);
  table.add("aten::flip(Tensor self, int[] dims) -> Tensor", flip);
}

} // namespace torchere::lowering
