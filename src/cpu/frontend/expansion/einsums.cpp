// Expands einsums: diagonals, sums over what one operand alone has, a product, and a transpose.
#include "cpu/frontend/expansion/expansion.h"
#include "cpu/frontend/expansion/sum.h"
#include "passes/chlo/formula.h"
#include "stablehlo/dialect.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <map>

using namespace mlir;

namespace torchere::cpu {

namespace {

using passes::FormulaBuilder;
using EinsumLabels = std::string;

/// A tensor with a label for each dimension.
struct EinsumPart {
  Value tensor;
  EinsumLabels labels;
};

struct EinsumEquation {
  SmallVector<EinsumLabels> operands;
  EinsumLabels result;
};

/// None for what is no list of letters, such as an ellipsis, and for a result that repeats a label.
std::optional<EinsumEquation> einsumEquationOf(Operation *op) {
  std::string text = op->getAttrOfType<StringAttr>("einsum_config").str();
  std::erase(text, ' ');
  auto [left, result] = StringRef(text).split("->");
  if (!StringRef(text).contains("->"))
    return std::nullopt;
  EinsumEquation equation;
  equation.result = result.str();
  for (StringRef operand : llvm::split(left, ','))
    equation.operands.push_back(operand.str());
  if (equation.operands.size() != op->getNumOperands())
    return std::nullopt;
  auto isLetters = [](StringRef labels) { return llvm::all_of(labels, llvm::isAlpha); };
  for (auto [labels, operand] : llvm::zip_equal(equation.operands, op->getOperands()))
    if (!isLetters(labels) ||
        static_cast<int64_t>(labels.size()) != cast<RankedTensorType>(operand.getType()).getRank())
      return std::nullopt;
  for (char label : equation.result)
    if (std::ranges::count(equation.result, label) != 1 || !StringRef(left).contains(label))
      return std::nullopt;
  return isLetters(equation.result) ? std::optional(equation) : std::nullopt;
}

class EinsumExpansion {
public:
  EinsumExpansion(Operation *op, EinsumEquation equation)
      : op(op), builder(op), location(op->getLoc()), formula(builder, location, op->getOperand(0)),
        equation(std::move(equation)) {}

  void replace() {
    Type element = elementOf(op->getResult(0)), wide = element;
    if (isa<mlir::FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
      wide = builder.getF32Type();
    SmallVector<EinsumPart> parts;
    for (auto [operand, labels] : llvm::zip_equal(op->getOperands(), equation.operands)) {
      EinsumPart part{formula.convert(operand, wide), labels};
      takeDiagonals(part);
      parts.push_back(part);
    }
    for (size_t i = 0; i < parts.size(); ++i)
      sumOut(parts[i], equation.result + (parts.size() == 2 ? parts[1 - i].labels : ""));
    EinsumPart whole = parts.size() == 2 ? product(parts[0], parts[1]) : parts[0];
    order(whole, equation.result);
    op->getResult(0).replaceAllUsesWith(formula.convert(whole.tensor, element));
    op->erase();
  }

private:
  static Type elementOf(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }
  static SmallVector<int64_t> shapeOf(Value value) {
    return SmallVector<int64_t>(cast<RankedTensorType>(value.getType()).getShape());
  }
  Value create(StringRef name, ValueRange operands, ArrayRef<int64_t> shape,
               ArrayRef<NamedAttribute> attributes) {
    OperationState state(location, name, operands,
                         {RankedTensorType::get(shape, elementOf(operands.front()))}, attributes);
    return builder.create(state)->getResult(0);
  }
  NamedAttribute list(StringRef name, ArrayRef<int64_t> values) {
    return builder.getNamedAttr(name, builder.getDenseI64ArrayAttr(values));
  }

  /// With the dimensions of these labels last.
  void order(EinsumPart &part, const EinsumLabels &labels) {
    SmallVector<int64_t> permutation, shape, old = shapeOf(part.tensor);
    for (char label : labels)
      permutation.push_back(static_cast<int64_t>(part.labels.find(label)));
    for (int64_t dimension : permutation)
      shape.push_back(old[static_cast<size_t>(dimension)]);
    if (!llvm::is_sorted(permutation))
      part.tensor = create("stablehlo.transpose", part.tensor, shape, list("permutation", permutation));
    part.labels = labels;
  }

  /// Of a label that two dimensions have: both become one, whose elements lie as far apart as a step in each.
  void takeDiagonals(EinsumPart &part) {
    for (size_t first = 0; first < part.labels.size(); ++first) {
      size_t second = part.labels.find(part.labels[first], first + 1);
      if (second == EinsumLabels::npos)
        continue;
      SmallVector<int64_t> permutation, shape, old = shapeOf(part.tensor);
      EinsumLabels labels;
      for (size_t i = 0; i < part.labels.size(); ++i)
        if (i != first && i != second) {
          permutation.push_back(static_cast<int64_t>(i));
          shape.push_back(old[i]);
          labels += part.labels[i];
        }
      int64_t size = old[first];
      permutation.append({static_cast<int64_t>(first), static_cast<int64_t>(second)});
      SmallVector<int64_t> pairs = shape, flat = shape, starts(shape.size() + 1), steps(shape.size(), 1);
      pairs.append({size, size});
      flat.push_back(size * size);
      steps.push_back(size + 1);
      shape.push_back(size);
      Value moved = create("stablehlo.transpose", part.tensor, pairs, list("permutation", permutation));
      Value joined = create("stablehlo.reshape", moved, flat, {});
      part.tensor =
          create("stablehlo.slice", joined, shape,
                 {list("start_indices", starts), list("limit_indices", flat), list("strides", steps)});
      part.labels = labels + part.labels[first];
      first = static_cast<size_t>(-1); // from the beginning
    }
  }

  /// Sums over the labels that nothing else has.
  void sumOut(EinsumPart &part, const EinsumLabels &kept) {
    SmallVector<int64_t> dimensions;
    EinsumLabels labels;
    for (auto [i, label] : llvm::enumerate(part.labels)) {
      if (kept.find(label) == EinsumLabels::npos)
        dimensions.push_back(static_cast<int64_t>(i));
      else
        labels += label;
    }
    if (!dimensions.empty())
      part = {sumOver(builder, location, part.tensor, dimensions), labels};
  }

  EinsumPart product(const EinsumPart &left, const EinsumPart &right) {
    SmallVector<int64_t> leftBatch, rightBatch, leftSum, rightSum, shape;
    EinsumLabels batch, free;
    SmallVector<int64_t> batchSizes, freeSizes;
    auto isIn = [](const EinsumLabels &labels, char label) {
      return labels.find(label) != EinsumLabels::npos;
    };
    for (auto [i, label, size] : llvm::enumerate(left.labels, shapeOf(left.tensor))) {
      auto dimension = static_cast<int64_t>(i), other = static_cast<int64_t>(right.labels.find(label));
      if (!isIn(right.labels, label)) {
        free += label;
        freeSizes.push_back(size);
      } else if (isIn(equation.result, label)) {
        leftBatch.push_back(dimension);
        rightBatch.push_back(other);
        batch += label;
        batchSizes.push_back(size);
      } else {
        leftSum.push_back(dimension);
        rightSum.push_back(other);
      }
    }
    for (auto [label, size] : llvm::zip_equal(right.labels, shapeOf(right.tensor)))
      if (!isIn(left.labels, label)) {
        free += label;
        freeSizes.push_back(size);
      }
    auto numbers =
        stablehlo::DotDimensionNumbersAttr::get(op->getContext(), leftBatch, rightBatch, leftSum, rightSum);
    shape = batchSizes;
    shape.append(freeSizes);
    Value made = create("stablehlo.dot_general", {left.tensor, right.tensor}, shape,
                        builder.getNamedAttr("dot_dimension_numbers", numbers));
    return {made, batch + free};
  }

  Operation *op;
  OpBuilder builder;
  Location location;
  FormulaBuilder formula;
  EinsumEquation equation;
};

/// Dimensions with equal labels have equal sizes.
bool hasOneSizeForEachLabel(Operation *op, const EinsumEquation &equation) {
  std::map<char, int64_t> sizes;
  for (auto [labels, operand] : llvm::zip_equal(equation.operands, op->getOperands()))
    for (auto [label, size] : llvm::zip_equal(labels, cast<RankedTensorType>(operand.getType()).getShape()))
      if (sizes.try_emplace(label, size).first->second != size)
        return false;
  return true;
}

} // namespace

void expandEinsums(func::FuncOp function) {
  SmallVector<Operation *> found;
  function.walk([&](Operation *op) {
    if (isa<stablehlo::EinsumOp, stablehlo::UnaryEinsumOp>(op))
      found.push_back(op);
  });
  for (Operation *op : found) {
    auto isStatic = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.hasStaticShape() &&
             (tensor.getElementType().isIntOrFloat() || isa<ComplexType>(tensor.getElementType()));
    };
    if (!llvm::all_of(op->getOperandTypes(), isStatic) || !llvm::all_of(op->getResultTypes(), isStatic))
      continue;
    std::optional<EinsumEquation> equation = einsumEquationOf(op);
    if (equation && hasOneSizeForEachLabel(op, *equation))
      EinsumExpansion(op, *std::move(equation)).replace();
  }
}

} // namespace torchere::cpu
