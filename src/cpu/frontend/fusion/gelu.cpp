// Finds gelu by the error function and by the hyperbolic tangent, and the error function alone.
#include "cpu/frontend/fusion/fingerprint.h"
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/kernel_call.h"

#include <cmath>

using namespace mlir;

namespace torchere::cpu {

namespace {

/// factor * values[0] * values[1] ...
struct Product {
  double factor = 1;
  SmallVector<mlir::Value, 4> values;
};

/// Multiplications, down to `end`, which may be a product itself, or to as many within each other as no gelu
/// has: chains of them are as long as programs.
void flatten(mlir::Value value, mlir::Value end, Product &product, Subgraph &subgraph, int within = 0) {
  constexpr int mostWithin = 16;
  if (value == end || product.values.size() > 8 || within++ == mostWithin) {
    product.values.push_back(value);
  } else if (std::optional<double> number = splatOf(value)) {
    product.factor *= *number;
  } else if (auto inner = subgraph.take<stablehlo::MulOp>(value)) {
    flatten(inner.getLhs(), end, product, subgraph, within);
    flatten(inner.getRhs(), end, product, subgraph, within);
  } else if (auto negated = subgraph.take<stablehlo::NegOp>(value)) {
    product.factor = -product.factor;
    flatten(negated.getOperand(), end, product, subgraph, within);
  } else if (auto quotient = value.getDefiningOp<stablehlo::DivOp>();
             quotient && splatOf(quotient.getRhs())) {
    subgraph.add(quotient);
    product.factor /= *splatOf(quotient.getRhs());
    flatten(quotient.getLhs(), end, product, subgraph, within);
  } else if (auto power = value.getDefiningOp<stablehlo::PowOp>(); power && isSplat(power.getRhs(), 3)) {
    subgraph.add(power);
    for (int i = 0; i < 3; ++i)
      flatten(power.getLhs(), end, product, subgraph, within);
  } else {
    product.values.push_back(value);
  }
}

Product productOf(mlir::Value value, mlir::Value end, Subgraph &subgraph) {
  Product product;
  flatten(value, end, product, subgraph);
  return product;
}

/// The x whose product with `factor` the value is.
mlir::Value scaledBy(mlir::Value value, double factor, Subgraph &subgraph) {
  double found = 1;
  while (!isNear(found, factor, value.getType())) {
    std::optional<double> number;
    if (auto negated = subgraph.take<stablehlo::NegOp>(value)) {
      value = negated.getOperand();
      found = -found;
    } else if (auto product = value.getDefiningOp<stablehlo::MulOp>()) {
      bool isRight = (number = splatOf(product.getRhs())).has_value();
      if (!isRight && !(number = splatOf(product.getLhs())))
        return {};
      subgraph.add(product);
      found *= *number;
      value = isRight ? product.getLhs() : product.getRhs();
    } else if (auto quotient = value.getDefiningOp<stablehlo::DivOp>();
               quotient && (number = splatOf(quotient.getRhs()))) {
      subgraph.add(quotient);
      found /= *number;
      value = quotient.getLhs();
    } else {
      return {};
    }
  }
  return value;
}

/// x, where the value is tanh(sqrt(2 / pi) * (x + 0.044715 * x * x * x)).
mlir::Value argumentOfTanh(mlir::Value value, Subgraph &subgraph) {
  auto tanh = subgraph.take<stablehlo::TanhOp>(value);
  mlir::Value scaled = tanh ? scaledBy(tanh.getOperand(), std::sqrt(2 / M_PI), subgraph) : mlir::Value();
  auto sum = scaled ? subgraph.take<stablehlo::AddOp>(scaled) : stablehlo::AddOp();
  if (!sum)
    return {};
  for (auto [x, cube] : {std::pair(sum.getLhs(), sum.getRhs()), {sum.getRhs(), sum.getLhs()}}) {
    Subgraph tried = subgraph;
    Product product = productOf(cube, x, tried);
    bool isCube = product.values.size() == 3 &&
                  llvm::all_of(product.values, [&, end = x](mlir::Value each) { return each == end; });
    if (!isCube || !isNear(product.factor, 0.044715, value.getType()))
      continue;
    subgraph = tried;
    return x;
  }
  return {};
}

/// What x is multiplied by, beside 1/2: of x.
struct GeluMatch {
  mlir::Value x;
  bool isTanh = false;
};
std::optional<GeluMatch> matchGate(mlir::Value gate, Subgraph &subgraph) {
  if (std::optional<ErrorFunctionMatch> found = matchErrorFunction(gate, subgraph);
      found && found->kind == ErrorFunction::Complement)
    if (mlir::Value x = scaledBy(found->argument, -M_SQRT1_2, subgraph))
      return GeluMatch{x, false};
  auto sum = subgraph.take<stablehlo::AddOp>(gate);
  if (!sum)
    return std::nullopt;
  for (auto [function, one] : {std::pair(sum.getLhs(), sum.getRhs()), {sum.getRhs(), sum.getLhs()}}) {
    if (!isSplat(one, 1))
      continue;
    Subgraph tried = subgraph;
    if (mlir::Value x = argumentOfTanh(function, tried)) {
      subgraph = tried;
      return GeluMatch{x, true};
    }
    if (std::optional<ErrorFunctionMatch> found = matchErrorFunction(function, subgraph);
        found && found->kind == ErrorFunction::Itself)
      if (mlir::Value x = scaledBy(found->argument, M_SQRT1_2, subgraph))
        return GeluMatch{x, false};
  }
  return std::nullopt;
}

bool mayBeGate(mlir::Value value) {
  return value.getDefiningOp<stablehlo::SelectOp>() || value.getDefiningOp<stablehlo::AddOp>();
}

bool fuseProduct(stablehlo::MulOp root) {
  Subgraph ignored;
  for (mlir::Value gate : productOf(root->getResult(0), {}, ignored).values) {
    Subgraph subgraph;
    std::optional<GeluMatch> match = mayBeGate(gate) ? matchGate(gate, subgraph) : std::nullopt;
    if (!match)
      continue;
    Product product = productOf(root->getResult(0), match->x, subgraph);
    bool isGelu = product.values.size() == 2 && llvm::is_contained(product.values, gate) &&
                  llvm::is_contained(product.values, match->x) && isNear(product.factor, 0.5, root.getType());
    if (!isGelu || !subgraph.isClosed(root))
      continue;
    replaceByShapedCall(root, match->isTanh ? "gelu_tanh" : "gelu", match->x);
    return true;
  }
  return false;
}

} // namespace

int64_t fuseGelu(func::FuncOp function) {
  int64_t count = 0;
  function.walk([&](stablehlo::MulOp product) {
    Type element = getElementTypeOrSelf(product.getType());
    if (isFloatTensor(product) && element == getElementTypeOrSelf(product.getLhs()))
      count += fuseProduct(product);
  });
  return count;
}

static bool isF32(mlir::Value value) {
  return getElementTypeOrSelf(value.getType()).isF32();
}

int64_t fuseErrorFunctions(func::FuncOp function) {
  int64_t count = 0;
  function.walk([&](Operation *op) {
    if (!isa<stablehlo::SelectOp, stablehlo::ClampOp>(op))
      return;
    Subgraph subgraph;
    std::optional<ErrorFunctionMatch> match = matchErrorFunction(op->getResult(0), subgraph);
    bool isInverse = match && match->kind == ErrorFunction::Inverse;
    if (!match || !subgraph.isClosed(op) || (isInverse && !isF32(match->argument)))
      return;
    bool isComplement = match->kind == ErrorFunction::Complement;
    replaceByShapedCall(op, isInverse ? "erf_inv" : isComplement ? "erfc" : "erf", match->argument);
    ++count;
  });
  return count;
}

} // namespace torchere::cpu
