// Ops that take parts of one dimension, ops that replace such parts, and differences of parts.
#include "lowering/elementwise.h"
#include "lowering/op_table.h"
#include "lowering/placement.h"

#include <algorithm>
#include <limits>

namespace torchere::lowering {

namespace {

/// An index whose sign is known only at run time, counted from the start.
Dim fromStart(Context &cx, Dim index, Dim size) {
  Dim isNegative = cx.subtract(0, cx.maximum(cx.minimum(index, 0), -1));
  return cx.add(index, cx.multiply(isNegative, size));
}

/// An index, counted from the end if it is negative, and clamped to [0, size].
Dim clampIndex(Context &cx, Dim index, Dim size) {
  if (index.isConstant() && index.constant() < 0)
    return cx.maximum(cx.add(size, index), 0);
  if (index.is(std::numeric_limits<int64_t>::max()))
    return size;
  if (index.is(0))
    return 0;
  if (!index.isConstant())
    index = cx.maximum(fromStart(cx, index, size), 0);
  return cx.minimum(index, size);
}

/// `count` positions of an axis from `start`, which is computed from the argument `given`. A number that is
/// an element of a tensor is known only while the program runs: no slice takes it.
mlir::Value part(Context &cx, mlir::Value self, int64_t axis, Dim given, Dim start, Dim count) {
  if (given.isConstant() || !count.isConstant())
    return cx.sliceAxis(self, axis, start, cx.add(start, count));
  Dims shape = cx.shape(self);
  if (llvm::any_of(shape, [](const Dim &dim) { return !dim.isConstant(); })) {
    mlir::Value places = cx.iota({count}, DType::I64, 0);
    mlir::Value first = cx.broadcastTo(cx.sizeTensor(start), {count});
    return gatherSlices(
        cx, self, slicesAlong(cx, cx.create<stablehlo::AddOp>(places.getType(), {places, first}), axis));
  }
  Values operands = {self};
  Integers sizes;
  for (auto [index, dim] : llvm::enumerate(shape)) {
    operands.push_back(cx.sizeTensor(static_cast<int64_t>(index) == axis ? start : Dim(0)));
    sizes.push_back(dim.constant());
  }
  shape[axis] = count;
  sizes[axis] = count.constant();
  return cx.create<stablehlo::DynamicSliceOp>(cx.tensorType(shape, Context::elementType(self)), operands,
                                              {cx.integersAttribute("slice_sizes", sizes)});
}

/// The part of an axis that a slice takes.
struct Cut {
  int64_t axis;
  Dim start, end;
};

Result<Cut> cutOf(Context &cx, const Args &args, mlir::Value self) {
  Cut cut;
  TORCHERE_ASSIGN(cut.axis, cx.axis(args.integer("dim"), Context::rank(self)));
  Dim size = cx.size(self, cut.axis);
  Dim end = args.optionalDim("end").value_or(std::numeric_limits<int64_t>::max());
  cut.start = clampIndex(cx, args.optionalDim("start").value_or(0), size);
  cut.end = clampIndex(cx, end, size);
  if (cut.start.isConstant() && cut.end.isConstant())
    cut.end = std::max(cut.start.constant(), cut.end.constant());
  else if (!cut.start.is(0) && !(cut.end == size && end.isConstant()))
    cut.end = cx.maximum(cut.start, cut.end);
  return cut;
}

Result<mlir::Value> slice(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  int64_t step = args.integer("step");
  if (step < 1)
    return cx.invalid("step must be positive: got {}", step);
  TORCHERE_ASSIGN(Cut cut, cutOf(cx, args, self));
  Dim given = args.optionalDim("start").value_or(0), count = cx.resultType().shape[cut.axis];
  if (step == 1 && count.isConstant() && !given.isConstant())
    return part(cx, self, cut.axis, given, cut.start, count);
  return cx.sliceAxis(self, cut.axis, cut.start, cut.end, step);
}

Result<mlir::Value> narrow(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), Context::rank(self)));
  Dim start = clampIndex(cx, args.dim("start"), cx.size(self, axis));
  return cx.reshape(part(cx, self, axis, args.dim("start"), start, cx.resultType().shape[axis]),
                    cx.resultType().shape);
}

/// The index of a select, counted from the start.
Dim selected(Context &cx, const Args &args, Dim size) {
  Dim index = args.dim("index");
  if (!index.isConstant())
    return fromStart(cx, index, size);
  return index.constant() < 0 ? cx.add(size, index) : index;
}

Result<mlir::Value> selectIndex(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), Context::rank(self)));
  Dim index = selected(cx, args, cx.size(self, axis));
  return cx.reshape(part(cx, self, axis, args.dim("index"), index, 1), cx.resultType().shape);
}

/// `self` with `source` written over it at `start`.
mlir::Value overwritten(Context &cx, mlir::Value self, mlir::Value source, int64_t axis, Dim start) {
  Values operands = {self, source};
  for (int64_t i = 0; i < Context::rank(self); ++i)
    operands.push_back(cx.sizeTensor(i == axis ? start : Dim(0)));
  return cx.withShape(cx.create<stablehlo::DynamicUpdateSliceOp>(self.getType(), operands), cx.shape(self));
}

/// `self` with `source` at every step-th position: both are selected from padded tensors of self's shape.
mlir::Value interleaved(Context &cx, mlir::Value self, mlir::Value source, const Cut &cut, int64_t step) {
  Dims shape = cx.shape(self);
  Dims low(shape.size(), Dim(0)), high(shape.size(), Dim(0));
  Integers interior(shape.size(), 0);
  Dim count = cx.size(source, cut.axis);
  Dim reach = cx.add(cx.multiply(cx.subtract(count, 1), step), 1); // negative if there is no element
  low[cut.axis] = cut.start;
  high[cut.axis] = cx.subtract(shape[cut.axis], cx.add(cut.start, cx.maximum(reach, 0)));
  interior[cut.axis] = step - 1;
  mlir::Value zero = cx.constant(int64_t{0}, Context::elementType(self));
  mlir::Value isTaken = cx.pad(cx.full(true, DType::Bool, cx.shape(source)), cx.constant(false, DType::Bool),
                               low, high, interior);
  return cx.select(cx.reshape(isTaken, shape), cx.reshape(cx.pad(source, zero, low, high, interior), shape),
                   self);
}

Result<mlir::Value> sliceScatter(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  Dim step = args.dim("step");
  if (!step.isConstant() || step.constant() < 1)
    return cx.invalid("step must be a positive constant: got {}",
                      step.isConstant() ? fmt::to_string(step.constant()) : "a size known only at run time");
  TORCHERE_ASSIGN(Cut cut, cutOf(cx, args, self));
  mlir::Value source = cx.convert(args.tensor("src"), Context::dtype(self));
  if (step.is(1))
    return overwritten(cx, self, source, cut.axis, cut.start);
  return interleaved(cx, self, source, cut, step.constant());
}

Result<mlir::Value> selectScatter(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), Context::rank(self)));
  Dims shape = cx.shape(self);
  shape[axis] = 1;
  mlir::Value source = cx.convert(args.tensor("src"), Context::dtype(self));
  return overwritten(cx, self, cx.reshape(source, shape), axis, selected(cx, args, cx.size(self, axis)));
}

/// Splits one axis into consecutive parts of the results' sizes.
Result<Values> split(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), Context::rank(self)));
  Values parts;
  Dim start = 0;
  for (size_t i = 0; i < cx.resultCount(); ++i) {
    Dim limit = cx.add(start, cx.resultType(i).shape[axis]);
    parts.push_back(cx.sliceAxis(self, axis, start, limit));
    start = limit;
  }
  return parts;
}

/// Splits one axis before each of the indices, which need not ascend.
Result<Values> splitBefore(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), Context::rank(self)));
  Dim size = cx.size(self, axis), start = 0;
  Dims limits = args.dims("indices");
  limits.push_back(size);
  Values parts;
  for (size_t i = 0; i < limits.size(); ++i) {
    Dim limit = clampIndex(cx, limits[i], size);
    mlir::Value part = cx.sliceAxis(self, axis, start, cx.maximum(start, limit));
    parts.push_back(cx.reshape(part, cx.resultType(i).shape));
    start = limit;
  }
  return parts;
}

/// Differences of neighbours along an axis, n times; of bools, whether they differ. Without a difference,
/// nothing is put before or after.
Result<mlir::Value> difference(Context &cx, const Args &args) {
  const TensorType &type = cx.resultType();
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), static_cast<int64_t>(type.shape.size())));
  Values pieces;
  for (std::string_view name : {"prepend", "self", "append"})
    if (std::optional<mlir::Value> piece = args.optionalTensor(name);
        piece && (name == "self" || args.integer("n") > 0))
      pieces.push_back(cx.convert(*piece, type.dtype));
  mlir::Value value = pieces.size() == 1 ? pieces.front() : cx.concatenate(pieces, axis);
  for (int64_t i = 0; i < args.integer("n"); ++i) {
    Dim size = cx.size(value, axis); // may be 0
    Values pair = {cx.sliceAxis(value, axis, cx.minimum(size, 1), size),
                   cx.sliceAxis(value, axis, 0, cx.maximum(cx.subtract(size, 1), 0))};
    value = type.dtype == DType::Bool ? cx.elementwise<stablehlo::XorOp>(pair)
                                      : cx.elementwise<stablehlo::SubtractOp>(pair);
  }
  return cx.reshape(value, type.shape);
}

Result<Values> unbind(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), Context::rank(self)));
  Values parts;
  for (size_t i = 0; i < cx.resultCount(); ++i) {
    auto index = static_cast<int64_t>(i);
    parts.push_back(cx.reshape(cx.sliceAxis(self, axis, index, index + 1), cx.resultType(i).shape));
  }
  return parts;
}

} // namespace

void addSlice(OpTable &table) {
  table.addSizedByData(
      "aten::slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, int step=1) "
      "-> Tensor(a)",
      slice);
  table.addSizedByData(
      "aten::slice_copy.Tensor(Tensor self, int dim=0, SymInt? start=None, SymInt? end=None, "
      "int step=1) -> Tensor",
      slice);
  table.add("aten::narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> Tensor", narrow);
  table.add("aten::select_copy.int(Tensor self, int dim, SymInt index) -> Tensor", selectIndex);
  table.add("aten::split_copy.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]", split);
  table.add("aten::unbind_copy.int(Tensor self, int dim=0) -> Tensor[]", unbind);
  table.add("aten::select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)", selectIndex);
  table.add("aten::slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, "
            "SymInt step=1) -> Tensor",
            sliceScatter);
  table.add("aten::select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor", selectScatter);
  table.add("aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]", split);
  table.add("aten::split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]",
            split);
  table.add("aten::tensor_split.sections(Tensor(a -> *) self, SymInt sections, int dim=0) -> Tensor(a)[]",
            split);
  table.add("aten::tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> Tensor(a)[]",
            splitBefore);
  table.add(
      "aten::diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor",
      difference);
  table.add("aten::unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]", unbind);
}

} // namespace torchere::lowering
