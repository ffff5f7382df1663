// The expansion of ragged_dot: dot_general of all groups, with elements of other groups masked.
#include "passes/chlo/expansions.h"
#include "passes/chlo/formula.h"

using namespace mlir;

namespace torchere::passes {

namespace {

using Dims = SmallVector<int64_t>;

/// A tensor and the position of each of its dimensions in a given shape.
struct Placed {
  Value tensor;
  Dims dimensions;
};

class RaggedDot {
public:
  RaggedDot(chlo::RaggedDotOp op, OpBuilder &builder)
      : op(op), builder(builder), location(op.getLoc()), numbers(op.getRaggedDotDimensionNumbers()) {}

  Value build() {
    if (contains(numbers.getLhsBatchingDimensions(), ragged()))
      return dot(op.getLhs(), op.getRhs(), 0, op.getType()); // the groups consist of whole products
    if (contains(numbers.getLhsContractingDimensions(), ragged()))
      return sumWithinGroups();
    return matrixOfEachGroup();
  }

private:
  static bool contains(ArrayRef<int64_t> dims, int64_t dim) { return llvm::is_contained(dims, dim); }
  int64_t ragged() { return numbers.getLhsRaggedDimensions().front(); }
  RankedTensorType groups() { return op.getGroupSizes().getType(); }
  int64_t groupCount() { return groups().getShape().back(); }

  static Dims shifted(ArrayRef<int64_t> dims, int64_t by) {
    return Dims(llvm::map_range(dims, [=](int64_t dim) { return dim + by; }));
  }

  /// The product of tensors with `added` batching dimensions in front.
  Value dot(Value lhs, Value rhs, int64_t added, RankedTensorType type) {
    auto batching = [&](ArrayRef<int64_t> dims) {
      Dims all = llvm::to_vector(llvm::seq<int64_t>(0, added));
      llvm::append_range(all, shifted(dims, added));
      return all;
    };
    auto dimensions = stablehlo::DotDimensionNumbersAttr::get(
        builder.getContext(), batching(numbers.getLhsBatchingDimensions()),
        batching(numbers.getRhsBatchingDimensions()), shifted(numbers.getLhsContractingDimensions(), added),
        shifted(numbers.getRhsContractingDimensions(), added));
    ArrayAttr precision;
    if (std::optional<ArrayAttr> given = op.getPrecisionConfig())
      precision = builder.getArrayAttr(llvm::map_to_vector(*given, [&](Attribute each) -> Attribute {
        return stablehlo::PrecisionAttr::get(builder.getContext(),
                                             cast<chlo::PrecisionAttr>(each).getValue());
      }));
    return stablehlo::DotGeneralOp::create(builder, location, type, lhs, rhs, dimensions, precision,
                                           stablehlo::DotAlgorithmAttr());
  }

  Value broadcast(Value value, ArrayRef<int64_t> shape, ArrayRef<int64_t> dimensions) {
    auto type = RankedTensorType::get(shape, stablehlo::elementType(value.getType()));
    return stablehlo::BroadcastInDimOp::create(builder, location, type, value,
                                               builder.getDenseI64ArrayAttr(dimensions));
  }

  Value zero(Type element) {
    return stablehlo::ConstantOp::create(
        builder, location, cast<ElementsAttr>(builder.getZeroAttr(RankedTensorType::get({}, element))));
  }

  /// A computation of two scalars, their sum.
  void buildSum(Region &region, Type element) {
    OpBuilder::InsertionGuard guard(builder);
    Type scalar = RankedTensorType::get({}, element);
    Block *block = builder.createBlock(&region, {}, {scalar, scalar}, {location, location});
    Value sum = stablehlo::AddOp::create(builder, location, block->getArgument(0), block->getArgument(1));
    stablehlo::ReturnOp::create(builder, location, sum);
  }

  /// The end of each group: cumulative sums along the last dimension.
  Value endsOf(Value sizes) {
    auto type = cast<RankedTensorType>(sizes.getType());
    Dims ones(type.getRank(), 1), window = ones, padding(2 * type.getRank(), 0);
    window.back() = groupCount();
    padding[padding.size() - 2] = groupCount() - 1;
    auto paddingType = RankedTensorType::get({type.getRank(), 2}, builder.getI64Type());
    auto steps = builder.getDenseI64ArrayAttr(ones);
    auto sums = stablehlo::ReduceWindowOp::create(builder, location, TypeRange{type}, sizes,
                                                  zero(type.getElementType()),
                                                  builder.getDenseI64ArrayAttr(window), steps, steps, steps,
                                                  DenseIntElementsAttr::get(paddingType, padding));
    buildSum(sums.getBody(), type.getElementType());
    return sums->getResult(0);
  }

  /// Bools of `shape`: whether position p of dimension `raggedAt` lies in group g of dimension `groupAt`.
  /// `prefixAt` are the dimensions that correspond to those of group_sizes before its last.
  Value mask(ArrayRef<int64_t> shape, ArrayRef<int64_t> prefixAt, int64_t raggedAt, int64_t groupAt) {
    bool isWide = groups().getElementType().getIntOrFloatBitWidth() == 64;
    Type integer = isWide ? builder.getI64Type() : builder.getI32Type();
    Value sizes =
        stablehlo::ConvertOp::create(builder, location, groups().clone(integer), op.getGroupSizes());
    Value ends = endsOf(sizes);
    Value starts = stablehlo::SubtractOp::create(builder, location, ends, sizes);
    Dims at;
    if (groups().getRank() > 1)
      at.append(prefixAt.begin(), prefixAt.end());
    at.push_back(groupAt);
    auto type = RankedTensorType::get(shape, integer);
    Value position = stablehlo::IotaOp::create(builder, location, type, builder.getI64IntegerAttr(raggedAt));
    auto compare = [&](stablehlo::ComparisonDirection direction, Value bound) {
      return stablehlo::CompareOp::create(builder, location, position, broadcast(bound, shape, at), direction,
                                          stablehlo::ComparisonType::SIGNED);
    };
    Value isAfter = compare(stablehlo::ComparisonDirection::GE, starts);
    Value isBefore = compare(stablehlo::ComparisonDirection::LT, ends);
    return stablehlo::AndOp::create(builder, location, isAfter, isBefore);
  }

  Value masked(Value mask, Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    Value zeros = broadcast(zero(type.getElementType()), type.getShape(), {});
    return stablehlo::SelectOp::create(builder, location, type, mask, tensor, zeros);
  }

  /// Multiplies each group's rows of lhs by the group's own matrix: products with all other matrices are
  /// masked in a sum over the groups. They are masked after the product, because zero times infinity is NaN.
  Value matrixOfEachGroup() {
    Dims free;
    for (int64_t dim = 0; dim < op.getLhs().getType().getRank(); ++dim)
      if (!contains(numbers.getLhsBatchingDimensions(), dim) &&
          !contains(numbers.getLhsContractingDimensions(), dim))
        free.push_back(dim);
    int64_t batch = numbers.getLhsBatchingDimensions().size();
    int64_t raggedAt = batch + (llvm::find(free, ragged()) - free.begin());
    int64_t groupAt = batch + free.size();
    for (int64_t dim = 0; dim < numbers.getRhsGroupDimensions().front(); ++dim)
      groupAt += !contains(numbers.getRhsBatchingDimensions(), dim) &&
                 !contains(numbers.getRhsContractingDimensions(), dim);
    Dims shape(op.getType().getShape());
    shape.insert(shape.begin() + groupAt, groupCount());
    Value products = dot(op.getLhs(), op.getRhs(), 0, op.getType().clone(shape));
    Value own =
        masked(mask(shape, llvm::to_vector(llvm::seq<int64_t>(0, raggedAt)), raggedAt, groupAt), products);
    Type element = op.getType().getElementType();
    auto sum = stablehlo::ReduceOp::create(builder, location, TypeRange{op.getType()}, own, zero(element),
                                           builder.getDenseI64ArrayAttr(groupAt));
    buildSum(sum.getBody(), element);
    return sum->getResult(0);
  }

  /// An operand repeated for each group, with the elements of other groups zero.
  Value ownElements(Value operand, ArrayRef<int64_t> batching, ArrayRef<int64_t> contracting) {
    auto type = cast<RankedTensorType>(operand.getType());
    Dims shape = {groupCount()};
    llvm::append_range(shape, type.getShape());
    Value repeated = broadcast(operand, shape, llvm::to_vector(llvm::seq<int64_t>(1, shape.size())));
    size_t position = llvm::find(numbers.getLhsContractingDimensions(), ragged()) -
                      numbers.getLhsContractingDimensions().begin();
    Dims prefix = shifted(batching, 1);
    llvm::append_range(prefix, shifted(contracting.take_front(position), 1));
    return masked(mask(shape, prefix, contracting[position] + 1, 0), repeated);
  }

  Value sumWithinGroups() {
    Value lhs =
        ownElements(op.getLhs(), numbers.getLhsBatchingDimensions(), numbers.getLhsContractingDimensions());
    Value rhs =
        ownElements(op.getRhs(), numbers.getRhsBatchingDimensions(), numbers.getRhsContractingDimensions());
    return dot(lhs, rhs, 1, op.getType());
  }

  chlo::RaggedDotOp op;
  OpBuilder &builder;
  Location location;
  chlo::RaggedDotDimensionNumbersAttr numbers;
};

FailureOr<Values> expandRaggedDot(chlo::RaggedDotOp op, OpBuilder &builder) {
  auto isStatic = [](Type type) { return cast<RankedTensorType>(type).hasStaticShape(); };
  if (!llvm::all_of(op->getOperandTypes(), isStatic) || !isStatic(op.getType()))
    return op.emitOpError("of tensors with unknown dimensions has no expansion to StableHLO");
  if (isa<ComplexType>(op.getType().getElementType()))
    return op.emitOpError("of complex numbers has no expansion to StableHLO");
  return Values{RaggedDot(op, builder).build()};
}

} // namespace

void addRaggedDotExpansion(Expansions &table) {
  addExpansion<chlo::RaggedDotOp>(table, expandRaggedDot);
}

} // namespace torchere::passes
