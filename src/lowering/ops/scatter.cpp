// Ops that write elements to the positions given by index tensors: scatter and index_put.
#include "lowering/elementwise.h"
#include "lowering/index_list.h"
#include "lowering/named_fold.h"
#include "lowering/op_table.h"
#include "lowering/scan.h"
#include "lowering/selection.h"

#include <algorithm>

namespace torchere::lowering {

namespace {

/// A scatter of single elements, or of slices, along a dimension.
struct ElementScatter {
  mlir::Value self;
  Placement placement;
  mlir::Value source; ///< of the shape of the places and slices
};

/// 0-d tensors are treated as of size 1; the source is cut to the index's shape.
Result<ElementScatter> elementScatter(Context &cx, const Args &args) {
  auto atLeastOneDimension = [&](mlir::Value value) {
    return Context::rank(value) == 0 ? cx.reshape(value, {Dim(1)}) : value;
  };
  mlir::Value self = atLeastOneDimension(args.tensor("self"));
  mlir::Value index = atLeastOneDimension(args.tensor("index"));
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), Context::rank(self)));
  Dims shape = cx.shape(index);
  mlir::Value source;
  if (args.has("src")) {
    Dims starts(shape.size(), Dim(0));
    source = cx.slice(atLeastOneDimension(args.tensor("src")), starts, shape, Integers(shape.size(), 1));
  } else {
    source = cx.broadcastTo(numberOperand(cx, args, "value", Context::dtype(self)), shape);
  }
  return ElementScatter{self, elementsAlong(cx, index, axis), source};
}

Result<mlir::Value> scatterElements(Context &cx, const Args &args, RegionBody body) {
  TORCHERE_ASSIGN(ElementScatter scatter, elementScatter(cx, args));
  return cx.reshape(scatterSlices(cx, scatter.self, scatter.placement, scatter.source, body),
                    cx.resultType().shape);
}

Result<mlir::Value> scatter(Context &cx, const Args &args) {
  return scatterElements(cx, args, takeUpdate);
}

Result<mlir::Value> scatterAdd(Context &cx, const Args &args) {
  return scatterElements(cx, args, combineUpdate<stablehlo::AddOp>);
}

/// Folds the source into self; target elements start from the fold's neutral number unless self is included.
mlir::Value foldInto(Context &cx, const ElementScatter &scatter, const NamedFold &fold, bool includeSelf) {
  mlir::Value self = scatter.self;
  if (!includeSelf)
    self = scatterSlices(cx, self, scatter.placement, cx.broadcastTo(fold.neutral, cx.shape(scatter.source)),
                         takeUpdate);
  return scatterSlices(cx, self, scatter.placement, scatter.source, fold.body);
}

/// Sum over count, where the count of an element that receives nothing is 1.
Result<mlir::Value> scatterMean(Context &cx, const ElementScatter &scatter, const NamedFold &fold,
                                bool includeSelf) {
  DType dtype = Context::dtype(scatter.self);
  if (!dtypeInfo(dtype).isFloatingPoint)
    return cx.unimplemented("the mean of integers is not supported: got {}, expected a floating-point dtype",
                            dtypeInfo(dtype).torchName);
  mlir::Value sum = foldInto(cx, scatter, fold, includeSelf);
  ElementScatter counting = {cx.fullLike(1.0, scatter.self), scatter.placement,
                             cx.fullLike(1.0, scatter.source)};
  return cx.elementwise<stablehlo::DivOp>({sum, foldInto(cx, counting, fold, includeSelf)});
}

/// By the reduction that the op names.
Result<mlir::Value> scatterNamed(Context &cx, const Args &args, const ElementScatter &scatter) {
  bool includeSelf = args.boolean("include_self");
  TORCHERE_ASSIGN(NamedFold fold, namedFold(cx, args, {"sum", "prod", "mean", "amax", "amin"},
                                            Context::elementType(scatter.self)));
  mlir::Value result;
  if (args.string("reduce") == "mean") {
    TORCHERE_ASSIGN(result, scatterMean(cx, scatter, fold, includeSelf));
  } else {
    result = foldInto(cx, scatter, fold, includeSelf);
  }
  return cx.reshape(result, cx.resultType().shape);
}

Result<mlir::Value> scatterReduce(Context &cx, const Args &args) {
  TORCHERE_ASSIGN(ElementScatter scatter, elementScatter(cx, args));
  return scatterNamed(cx, args, scatter);
}

/// Whole slices along a dimension.
Result<mlir::Value> indexReduce(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self"), index = args.tensor("index"), source = args.tensor("source");
  int64_t rank = std::max<int64_t>(Context::rank(self), 1);
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), rank));
  Dim count = cx.product(cx.shape(index));
  if (Context::rank(self) == 0)
    self = cx.reshape(self, {Dim(1)});
  Dims updates = cx.shape(self);
  updates[axis] = count;
  return scatterNamed(cx, args,
                      {self, slicesAlong(cx, cx.reshape(index, {count}), axis), cx.reshape(source, updates)});
}

/// self[index] = source where self counts as one row of elements.
Result<mlir::Value> put(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self"), row = flattened(cx, self);
  TORCHERE_ASSIGN(Placement placement, placementOf(cx, row, {flattened(cx, args.tensor("index"))}));
  mlir::Value result =
      scatterSlices(cx, row, placement, flattened(cx, args.tensor("source")),
                    args.boolean("accumulate") ? combineUpdate<stablehlo::AddOp> : takeUpdate);
  return cx.reshape(result, cx.shape(self));
}

/// Slices of one number along a dimension.
Result<mlir::Value> indexFill(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self"), index = args.tensor("index");
  mlir::Value filled = Context::rank(self) == 0 ? flattened(cx, self) : self;
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), Context::rank(filled)));
  Values indices(axis + 1);
  indices[axis] = flattened(cx, index);
  TORCHERE_ASSIGN(Placement placement, placementOf(cx, filled, indices));
  mlir::Value number = numberOperand(cx, args, "value", Context::dtype(self));
  mlir::Value updates = cx.broadcastTo(number, slicesShape(cx, filled, placement));
  return cx.reshape(scatterSlices(cx, filled, placement, updates, takeUpdate), cx.shape(self));
}

/// The older form of scatter_reduce: 'add' or 'multiply', self included, with a tensor or a number.
Result<mlir::Value> scatterCombined(Context &cx, const Args &args) {
  mlir::Type element = Context::elementType(args.tensor("self"));
  TORCHERE_ASSIGN(NamedFold fold, namedFold(cx, args, {"add", "multiply"}, element));
  return scatterElements(cx, args, fold.body);
}

/// `values` in self's shape. They are aligned with self where the mask's dimensions, from `axis` on, have
/// become one: slice k of that one goes to the k-th place that the mask sets. What the other places get does
/// not matter.
mlir::Value spreadByMask(Context &cx, mlir::Value self, mlir::Value mask, int64_t axis, mlir::Value values) {
  Dims masked = cx.shape(mask), shape = cx.shape(values);
  int64_t following = Context::rank(self) - Context::rank(mask) - axis;
  int64_t places = Context::rank(values) - 1 - following;
  if (places < 0)
    return cx.broadcastTo(values, cx.shape(self));
  if (shape[places].is(1)) {
    masked.assign(masked.size(), Dim(1));
  } else {
    mlir::Value rank = numberOfSet(cx, cx.reshape(mask, {cx.product(masked)}));
    values = gatherSlices(cx, atLeastOne(cx, values, places), slicesAlong(cx, rank, places));
  }
  shape.erase(shape.begin() + places);
  shape.insert(shape.begin() + places, masked.begin(), masked.end());
  return cx.broadcastTo(cx.reshape(values, shape), cx.shape(self));
}

/// self[mask] = values: the one use of a mask that needs no size that depends on its elements.
mlir::Value putByMask(Context &cx, mlir::Value self, mlir::Value mask, int64_t axis, mlir::Value values,
                      bool accumulate) {
  if (llvm::any_of(cx.shape(values), [](const Dim &dim) { return dim.is(0); })) // nothing is set
    return self;
  Integers mapping;
  for (int64_t i = 0; i < Context::rank(mask); ++i)
    mapping.push_back(axis + i);
  mlir::Value updates = spreadByMask(cx, self, mask, axis, values);
  if (accumulate)
    updates = cx.elementwise<stablehlo::AddOp>({self, updates});
  return cx.select(cx.broadcastInDim(mask, cx.shape(self), mapping), updates, self);
}

/// self[indices] = values, or += values when accumulating, which adds up repeated positions.
Result<mlir::Value> indexPut(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  Values indices = args.optionalTensors("indices");
  mlir::Value values = args.tensor("values");
  bool accumulate = args.boolean("accumulate");
  auto given = llvm::make_filter_range(indices, [](mlir::Value index) { return static_cast<bool>(index); });
  auto first = given.begin();
  if (first != given.end() && std::next(first) == given.end() && Context::dtype(*first) == DType::Bool) {
    int64_t axis = llvm::find(indices, *first) - indices.begin();
    return putByMask(cx, self, *first, axis, values, accumulate);
  }
  TORCHERE_ASSIGN(Placement placement, placementOf(cx, self, indices));
  mlir::Value updates = cx.broadcastTo(values, slicesShape(cx, self, placement));
  return scatterSlices(cx, self, placement, updates,
                       accumulate ? combineUpdate<stablehlo::AddOp> : takeUpdate);
}

} // namespace

void addScatter(OpTable &table) {
  table.add("aten::scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", scatter);
  table.add("aten::scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", scatter);
  table.add("aten::scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", scatterAdd);
  table.add("aten::scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, "
            "bool include_self=True) -> Tensor",
            scatterReduce);
  table.add("aten::scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
            scatterCombined);
  table.add(
      "aten::scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor",
      scatterCombined);
  table.add("aten::index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, "
            "bool include_self=True) -> Tensor",
            indexReduce);
  table.add("aten::index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
            indexFill);
  table.add("aten::index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
            indexFill);
  table.add("aten::put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor", put);
  table.add("aten::index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
            indexPut);
}

} // namespace torchere::lowering
