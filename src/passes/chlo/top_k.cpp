// The expansion of top_k: a stable sort of the elements with their indices, of which the first k are kept;
// and of JAX's custom calls for the same.
#include "passes/chlo/expansions.h"
#include "passes/chlo/formula.h"
#include "passes/chlo/top_k_calls.h"
#include "stablehlo/constraint.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace torchere::passes {

namespace {

/// Indices along the last dimension.
Value indicesOf(OpBuilder &builder, Location location, Value operand) {
  auto type = cast<RankedTensorType>(operand.getType()).clone(builder.getI32Type());
  IntegerAttr dimension = builder.getI64IntegerAttr(type.getRank() - 1);
  if (type.hasStaticShape())
    return stablehlo::IotaOp::create(builder, location, type, dimension);
  return stablehlo::DynamicIotaOp::create(builder, location, type, shapeOf(builder, location, operand),
                                          dimension);
}

/// Whether the left value comes first: the greater, of floats in their total order, so that NaN is the
/// greatest.
void buildComparator(Region &region, Location location, Type value, Type index) {
  OpBuilder builder(region);
  auto scalar = [](Type element) { return RankedTensorType::get({}, element); };
  Block *block =
      builder.createBlock(&region, {}, {scalar(value), scalar(value), scalar(index), scalar(index)},
                          SmallVector<Location>(4, location));
  auto order =
      isa<FloatType>(value) ? stablehlo::ComparisonType::TOTALORDER : stablehlo::naturalComparison(value);
  Value first = stablehlo::CompareOp::create(builder, location, block->getArgument(0), block->getArgument(1),
                                             stablehlo::ComparisonDirection::GT, order);
  stablehlo::ReturnOp::create(builder, location, first);
}

/// The first k elements along the dimension.
Value firstOf(OpBuilder &builder, Location location, Value sorted, int64_t dimension, int64_t k) {
  auto type = cast<RankedTensorType>(sorted.getType());
  SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape()), strides(type.getRank(), 1);
  limits[dimension] = k;
  bool areKnown = llvm::all_of(limits, stablehlo::isKnown);
  if (areKnown)
    return stablehlo::SliceOp::create(
        builder, location, type.clone(limits), sorted, builder.getDenseI64ArrayAttr(starts),
        builder.getDenseI64ArrayAttr(limits), builder.getDenseI64ArrayAttr(strides));
  auto vector = [&](ArrayRef<int64_t> values) -> Value {
    auto vectorType = RankedTensorType::get({static_cast<int64_t>(values.size())}, builder.getI32Type());
    return stablehlo::ConstantOp::create(
        builder, location, DenseIntElementsAttr::get(vectorType, llvm::to_vector_of<int32_t>(values)));
  };
  SmallVector<Value> sizes;
  auto one = RankedTensorType::get({1}, builder.getI32Type());
  for (int64_t other = 0; other < type.getRank(); ++other) {
    if (other == dimension) {
      sizes.push_back(vector(k));
      continue;
    }
    Value size = stablehlo::GetDimensionSizeOp::create(builder, location, sorted, other);
    sizes.push_back(stablehlo::ReshapeOp::create(builder, location, one, size));
  }
  Value limit = stablehlo::ConcatenateOp::create(builder, location, sizes, 0);
  return stablehlo::RealDynamicSliceOp::create(builder, location, type.clone(limits), sorted, vector(starts),
                                               limit, vector(strides));
}

FailureOr<Values> expandTopK(chlo::TopKOp op, OpBuilder &builder) {
  Location location = op.getLoc();
  Type element = stablehlo::elementType(op.getOperand().getType());
  if (isa<ComplexType>(element))
    return op.emitOpError("of complex numbers has no expansion to StableHLO: they have no order");
  Value indices = indicesOf(builder, location, op.getOperand());
  SmallVector<Value> inputs = {op.getOperand(), indices};
  int64_t last = op.getOperand().getType().getRank() - 1;
  auto sort = stablehlo::SortOp::create(builder, location, ValueRange(inputs).getTypes(), inputs,
                                        builder.getI64IntegerAttr(last), builder.getBoolAttr(true));
  buildComparator(sort.getComparator(), location, element, builder.getI32Type());
  return Values{firstOf(builder, location, sort.getResult(0), last, op.getK()),
                firstOf(builder, location, sort.getResult(1), last, op.getK())};
}

/// Operands, their initial values, and a comparator of two elements of each operand.
struct ApproximateTopK {
  stablehlo::CustomCallOp call;
  func::FuncOp comparator;
  int64_t dimension;

  ValueRange operands() const { return call->getOperands().take_front(call->getNumResults()); }
};

bool isComparatorOf(func::FuncOp function, ValueRange operands, Operation *call) {
  if (!function || !llvm::hasSingleElement(function.getBody()) || function->isProperAncestor(call))
    return false;
  SmallVector<Type> expected;
  for (Value operand : operands)
    expected.append(2, RankedTensorType::get({}, cast<RankedTensorType>(operand.getType()).getElementType()));
  auto truth = RankedTensorType::get({}, IntegerType::get(function.getContext(), 1));
  return llvm::equal(function.getArgumentTypes(), expected) &&
         llvm::equal(function.front().getTerminator()->getOperandTypes(), ArrayRef<Type>(truth));
}

/// Whether each result has the elements of its operand, and no more of them along the dimension.
bool areParts(ValueRange results, ValueRange operands, int64_t dimension) {
  return llvm::all_of(llvm::zip_equal(results, operands), [&](auto pair) {
    auto [result, operand] = pair;
    auto part = dyn_cast<RankedTensorType>(result.getType()),
         whole = dyn_cast<RankedTensorType>(operand.getType());
    if (!part || !whole || !part.hasStaticShape() || !whole.hasStaticShape() || dimension < 0 ||
        dimension >= whole.getRank() || part.getRank() != whole.getRank() ||
        part.getDimSize(dimension) > whole.getDimSize(dimension))
      return false;
    SmallVector<int64_t> shape(whole.getShape());
    shape[dimension] = part.getDimSize(dimension);
    return Type(part) == Type(whole.clone(shape)) &&
           whole.getShape() == cast<RankedTensorType>(operands[0].getType()).getShape();
  });
}

std::optional<ApproximateTopK> matchTopKCall(stablehlo::CustomCallOp call, SymbolTable &symbols) {
  if (call.getCallTargetName() != "ApproxTopK" || call->getNumResults() == 0 ||
      call->getNumOperands() != 2 * call->getNumResults())
    return std::nullopt;
  auto config = call->getAttrOfType<DictionaryAttr>("mhlo.backend_config"); // as JAX writes it
  auto dimension = config ? config.getAs<IntegerAttr>("reduction_dim") : nullptr;
  auto callees = call->getAttrOfType<ArrayAttr>("called_computations");
  if (!dimension || !callees || callees.size() != 1)
    return std::nullopt;
  auto name = dyn_cast<FlatSymbolRefAttr>(callees[0]);
  ApproximateTopK found = {call, name ? symbols.lookup<func::FuncOp>(name.getAttr()) : nullptr,
                           dimension.getInt()};
  if (!areParts(call->getResults(), found.operands(), found.dimension) ||
      !isComparatorOf(found.comparator, found.operands(), call))
    return std::nullopt;
  return found;
}

void replaceTopKCall(ApproximateTopK found) {
  Operation *call = found.call;
  OpBuilder builder(call);
  Location location = call->getLoc();
  auto sort =
      stablehlo::SortOp::create(builder, location, found.operands().getTypes(), found.operands(),
                                builder.getI64IntegerAttr(found.dimension), builder.getBoolAttr(true));
  IRMapping mapping;
  found.comparator.getBody().cloneInto(&sort.getComparator(), mapping);
  Operation *terminator = sort.getComparator().front().getTerminator();
  builder.setInsertionPoint(terminator);
  stablehlo::ReturnOp::create(builder, location, terminator->getOperand(0));
  terminator->erase();
  builder.setInsertionPoint(call);
  for (auto [result, sorted] : llvm::zip_equal(call->getResults(), sort->getResults()))
    result.replaceAllUsesWith(
        firstOf(builder, location, sorted, found.dimension,
                cast<RankedTensorType>(result.getType()).getDimSize(static_cast<unsigned>(found.dimension))));
  call->erase();
}

} // namespace

void replaceTopKCalls(ModuleOp module) {
  SymbolTable symbols(module);
  SmallVector<ApproximateTopK> calls;
  module.walk([&](stablehlo::CustomCallOp call) {
    if (std::optional<ApproximateTopK> found = matchTopKCall(call, symbols))
      calls.push_back(*found);
  });
  llvm::for_each(calls, replaceTopKCall);
}

void addTopKExpansion(Expansions &table) {
  addExpansion<chlo::TopKOp>(table, expandTopK);
}

} // namespace torchere::passes
