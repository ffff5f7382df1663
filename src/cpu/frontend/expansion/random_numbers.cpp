// Expands `rng`: random words, of which elementwise ops make numbers of the distribution.
#include "cpu/frontend/expansion/expansion.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "passes/chlo/formula.h"

#include <numbers>

using namespace mlir;

namespace torchere::cpu {

namespace {

using passes::Elements;
using passes::FormulaBuilder;

/// The numbers of one op.
class RandomNumbers {
public:
  explicit RandomNumbers(Operation *op)
      : op(op), builder(op), location(op->getLoc()), type(cast<RankedTensorType>(op->getResult(0).getType())),
        formula(builder, location, op->getOperand(0)) {}

  void replace() {
    auto distribution = cast<stablehlo::RngDistributionAttr>(op->getAttr("rng_distribution")).getValue();
    Type element = type.getElementType();
    Value numbers;
    if (!isa<mlir::FloatType>(element))
      numbers = integers();
    else
      numbers =
          formula.convert(distribution == stablehlo::RngDistribution::NORMAL ? normal() : uniform(), element);
    op->getResult(0).replaceAllUsesWith(numbers);
    op->erase();
  }

private:
  /// Other words each time that the call runs.
  Value words(unsigned bits) {
    Type word = IntegerType::get(op->getContext(), bits, IntegerType::Unsigned);
    auto call = createKernelCall(builder, location, "random_words", {type.clone(word)}, {});
    call.setHasSideEffect(true); // two calls are not one, nor is a call before a loop
    return call.getResult(0);
  }

  /// A scalar operand in each element.
  Value spread(unsigned operand, Type element) {
    Value scalar = formula.convert(op->getOperand(operand), element);
    NamedAttribute nowhere =
        builder.getNamedAttr("broadcast_dimensions", builder.getDenseI64ArrayAttr(ArrayRef<int64_t>()));
    return stablehlo::BroadcastInDimOp::create(builder, location, TypeRange{type.clone(element)},
                                               ValueRange{scalar}, {nowhere})
        ->getResult(0);
  }

  Elements elements(Value value) { return {formula, value}; }
  /// The type that floats are computed in.
  Type computed() {
    return type.getElementType().isF64() ? Type(builder.getF64Type()) : Type(builder.getF32Type());
  }

  /// In [0, 1), of as many bits as the type holds exactly.
  Elements fraction() {
    bool isWide = computed().isF64();
    unsigned bits = isWide ? 64 : 32;
    Value given = words(bits);
    Value shift = formula.fullLike(llvm::APInt(bits, isWide ? 11 : 8), given);
    Value high = formula.elementwise<stablehlo::ShiftRightLogicalOp>({given, shift});
    return elements(formula.convert(high, computed())) * (isWide ? 0x1p-53 : 0x1p-24);
  }

  /// In [a, b); rounding to the result's type may have reached b.
  Value uniform() {
    Elements a = elements(spread(0, computed())), b = elements(spread(1, computed()));
    Elements number = a + (b - a) * fraction();
    Type element = type.getElementType();
    Elements rounded = elements(formula.convert(formula.convert(number, element), computed()));
    return (rounded < b).select(rounded, a);
  }

  /// By the Box-Muller transform of two uniform numbers.
  Value normal() {
    Elements radius = sqrt(log(1.0 - fraction()) * -2.0);
    Elements number = radius * cosine(fraction() * (2 * std::numbers::pi));
    return elements(spread(0, computed())) + elements(spread(1, computed())) * number;
  }

  /// In [a, b), modulo 2^64; a where that is empty.
  Value integers() {
    Type word = IntegerType::get(op->getContext(), 64, IntegerType::Unsigned), number = builder.getI64Type();
    auto wide = [&](unsigned operand) {
      return elements(formula.retyped<stablehlo::BitcastConvertOp>(spread(operand, number), word));
    };
    Elements a = wide(0), span = wide(1) - a;
    Elements isEmpty = equal(span, 0);
    Elements part =
        elements(words(64)).apply<stablehlo::RemOp>(isEmpty.select(span.constant(llvm::APInt(64, 1)), span));
    Value sum = formula.retyped<stablehlo::BitcastConvertOp>(Value(a + part), number);
    return formula.convert(sum, type.getElementType());
  }

  Operation *op;
  OpBuilder builder;
  Location location;
  RankedTensorType type;
  FormulaBuilder formula;
};

} // namespace

void expandRandomNumbers(func::FuncOp function) {
  SmallVector<Operation *> found;
  function.walk([&](stablehlo::RngOp op) {
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (type && type.hasStaticShape())
      found.push_back(op);
  });
  for (Operation *op : found)
    RandomNumbers(op).replace();
}

} // namespace torchere::cpu
