// The expansion of scan: a loop that reads an element of each input and writes one of each output.
#include "passes/chlo/expansions.h"
#include "passes/chlo/formula.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace torchere::passes {

namespace {

/// Builds the loop's parts. Its values are the counter, the inputs, the outputs and the carries.
class ScanLoop {
public:
  ScanLoop(chlo::ScanOp op, OpBuilder &builder) : op(op), builder(builder), location(op.getLoc()) {}

  FailureOr<Values> build() {
    SmallVector<Value> start = {counter(0)};
    llvm::append_range(start, op.getInputs());
    for (Value output : op.getOutputs())
      start.push_back(zerosOf(cast<RankedTensorType>(output.getType())));
    llvm::append_range(start, op.getInits());
    auto loop = stablehlo::WhileOp::create(builder, location, ValueRange(start).getTypes(), start);
    buildCondition(loop.getCond(), loop.getResultTypes());
    buildBody(loop.getBody(), loop.getResultTypes());
    return Values(loop.getResults().drop_front(1 + op.getInputs().size()));
  }

private:
  int64_t length() {
    return op.getScanDimSize()      ? *op.getScanDimSize()
           : op.getInputs().empty() ? cast<RankedTensorType>(op.getOutputs()[0].getType()).getDimSize(axis())
                                    : cast<RankedTensorType>(op.getInputs()[0].getType()).getDimSize(axis());
  }
  int64_t axis() { return op.getDimension(); }
  Value counter(int64_t value) {
    return stablehlo::ConstantOp::create(
        builder, location, DenseIntElementsAttr::get(RankedTensorType::get({}, builder.getI64Type()), value));
  }
  Value zerosOf(RankedTensorType type) {
    if (auto complex = dyn_cast<ComplexType>(type.getElementType())) {
      APFloat zero = APFloat::getZero(cast<FloatType>(complex.getElementType()).getFloatSemantics());
      return stablehlo::ConstantOp::create(builder, location,
                                           DenseElementsAttr::get(type, std::complex<APFloat>(zero, zero)));
    }
    return stablehlo::ConstantOp::create(builder, location, cast<ElementsAttr>(builder.getZeroAttr(type)));
  }
  Block *openBlock(Region &region, TypeRange types) {
    return builder.createBlock(&region, {}, types, SmallVector<Location>(types.size(), location));
  }
  /// The indices of element `at` along the axis.
  SmallVector<Value> indices(Value at, int64_t rank) {
    SmallVector<Value> all(rank, counter(0));
    all[axis()] = at;
    return all;
  }

  void buildCondition(Region &region, TypeRange types) {
    OpBuilder::InsertionGuard guard(builder);
    Block *block = openBlock(region, types);
    Value goesOn =
        stablehlo::CompareOp::create(builder, location, block->getArgument(0), counter(length()),
                                     stablehlo::ComparisonDirection::LT, stablehlo::ComparisonType::SIGNED);
    stablehlo::ReturnOp::create(builder, location, goesOn);
  }

  /// Element `at` of an input, without the axis.
  Value take(Value input, Value at, Type type) {
    auto inputType = cast<RankedTensorType>(input.getType());
    SmallVector<int64_t> sizes(inputType.getShape());
    sizes[axis()] = 1;
    Value slice = stablehlo::DynamicSliceOp::create(builder, location, inputType.clone(sizes), input,
                                                    indices(at, inputType.getRank()),
                                                    builder.getDenseI64ArrayAttr(sizes));
    return stablehlo::ReshapeOp::create(builder, location, type, slice);
  }

  Value put(Value output, Value at, Value element) {
    auto type = cast<RankedTensorType>(output.getType());
    SmallVector<int64_t> sizes(type.getShape());
    sizes[axis()] = 1;
    Value slice = stablehlo::ReshapeOp::create(builder, location, type.clone(sizes), element);
    return stablehlo::DynamicUpdateSliceOp::create(builder, location, type, output, slice,
                                                   indices(at, type.getRank()));
  }

  void buildBody(Region &region, TypeRange types) {
    OpBuilder::InsertionGuard guard(builder);
    Block *block = openBlock(region, types);
    size_t inputs = op.getInputs().size(), outputs = op.getOutputs().size();
    ArrayRef<BlockArgument> values = block->getArguments();
    Value count = values[0], at = count;
    if (op.getIsReverse())
      at = stablehlo::SubtractOp::create(builder, location, counter(length() - 1), count);
    Block &body = op.getBody().front();
    IRMapping mapping;
    for (size_t i = 0; i < inputs; ++i)
      mapping.map(body.getArgument(i), take(values[1 + i], at, body.getArgument(i).getType()));
    for (size_t i = inputs; i < body.getNumArguments(); ++i)
      mapping.map(body.getArgument(i), values[1 + outputs + i]);
    for (Operation &inner : body.without_terminator())
      builder.clone(inner, mapping);
    Value one = counter(1);
    SmallVector<Value> next = {stablehlo::AddOp::create(builder, location, count, one)};
    llvm::append_range(next, values.slice(1, inputs));
    for (auto [i, returned] : llvm::enumerate(body.getTerminator()->getOperands())) {
      Value value = mapping.lookupOrDefault(returned);
      next.push_back(i < outputs ? put(values[1 + inputs + i], at, value) : value);
    }
    stablehlo::ReturnOp::create(builder, location, next);
  }

  chlo::ScanOp op;
  OpBuilder &builder;
  Location location;
};

FailureOr<Values> expandScan(chlo::ScanOp op, OpBuilder &builder) {
  auto isStatic = [](Type type) { return cast<RankedTensorType>(type).hasStaticShape(); };
  if (!llvm::all_of(op->getOperandTypes(), isStatic) || !llvm::all_of(op->getResultTypes(), isStatic))
    return op.emitOpError("of tensors with unknown dimensions has no expansion to StableHLO");
  return ScanLoop(op, builder).build();
}

} // namespace

void addScanExpansion(Expansions &table) {
  addExpansion<chlo::ScanOp>(table, expandScan);
}

} // namespace torchere::passes
