// Ops that order elements, or look for places in an order: sort, topk, searchsorted.
#include "lowering/elementwise.h"
#include "lowering/op_table.h"
#include "lowering/placement.h"
#include "lowering/promotion.h"
#include "lowering/sorting.h"

namespace torchere::lowering {

namespace {

Result<Values> sort(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), Context::rank(self)));
  if (Context::rank(self) == 0)
    return orderOfOne(cx, self);
  return sortAlong(cx, self, axis, args.boolean("descending"));
}

/// The first k elements, sorted whether or not the op asks for it.
Result<Values> topk(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), Context::rank(self)));
  if (Context::rank(self) == 0)
    return orderOfOne(cx, self);
  Values sorted = sortAlong(cx, self, axis, args.boolean("largest"));
  for (mlir::Value &value : sorted)
    value = cx.sliceAxis(value, axis, 0, args.dim("k"));
  return sorted;
}

/// What is looked for: a tensor, or a number beside the sequence.
mlir::Value valuesOf(Context &cx, const Args &args, mlir::Value sequence) {
  if (args.isTensor("self"))
    return args.tensor("self");
  mlir::Value number = cx.number(args.scalar("self"));
  return cx.convert(number, promotedType(cx, {sequence, number}));
}

Result<mlir::Value> searchSorted(Context &cx, const Args &args) {
  mlir::Value sequence = args.tensor(args.has("boundaries") ? "boundaries" : "sorted_sequence");
  mlir::Value values = valuesOf(cx, args, sequence);
  if (Context::dtype(sequence) != Context::dtype(values)) {
    DType dtype = promoteTypes(Context::dtype(sequence), Context::dtype(values));
    sequence = cx.convert(sequence, dtype);
    values = cx.convert(values, dtype);
  }
  auto sorter = args.has("sorter") ? args.optionalTensor("sorter") : std::nullopt;
  if (sorter && !cx.shape(sequence).back().is(0)) // of an empty row there is nothing to gather
    sequence = gatherSlices(cx, sequence, elementsAlong(cx, *sorter, Context::rank(sequence) - 1));
  auto side = args.has("side") ? args.optionalString("side") : std::nullopt;
  bool isRight = args.boolean("right") || side == "right";
  return cx.convert(numberBefore(cx, sequence, values, isRight), cx.resultType().dtype);
}

} // namespace

void addSort(OpTable &table) {
  table.add("aten::sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
            sort);
  table.add("aten::sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) "
            "-> (Tensor values, Tensor indices)",
            sort);
  table.add("aten::topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) "
            "-> (Tensor values, Tensor indices)",
            topk);
  table.add("aten::searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, "
            "bool right=False, str? side=None, Tensor? sorter=None) -> Tensor",
            searchSorted);
  table.add("aten::searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, "
            "bool right=False, str? side=None, Tensor? sorter=None) -> Tensor",
            searchSorted);
  table.add("aten::bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, "
            "bool right=False) -> Tensor",
            searchSorted);
  table.add("aten::bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, "
            "bool right=False) -> Tensor",
            searchSorted);
}

} // namespace torchere::lowering
