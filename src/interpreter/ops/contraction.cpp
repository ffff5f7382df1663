// Contractions: dot_general, dot and the einsums, all as sums over labelled dimensions.
#include "base/memory_share.h"
#include "interpreter/accumulation.h"
#include "interpreter/call.h"
#include "stablehlo/dialect.h"

#include "base/npy.h"

#include <map>

namespace torchere::interpreter {

namespace {

/// A tensor with a label for each dimension; dimensions with equal labels are matched.
struct Labelled {
  const Tensor &tensor;
  Index labels;
};

/// The positions in a tensor for each index over the labels; labels that the tensor lacks do not matter.
std::vector<int64_t> positionsOver(const Labelled &operand, const Index &labels, const Index &sizes) {
  std::vector<int64_t> strides = denseStrides(operand.tensor.shape(), false), steps;
  for (int64_t label : labels) {
    int64_t step = 0;
    for (size_t dimension = 0; dimension < operand.labels.size(); ++dimension)
      step += operand.labels[dimension] == label ? strides[dimension] : 0;
    steps.push_back(step);
  }
  std::vector<int64_t> positions;
  forEachIndex(sizes, [&](IndexView index, int64_t) {
    int64_t position = 0;
    for (size_t label = 0; label < index.size(); ++label)
      position += index[label] * steps[label];
    positions.push_back(position);
  });
  return positions;
}

/// Sums the products over all labels that the result does not have.
Result<Tensor> contract(const Labelled &lhs, const Labelled &rhs, const Index &resultLabels,
                        ElementType type) {
  std::map<int64_t, int64_t> sizes;
  for (const Labelled *operand : {&lhs, &rhs})
    for (size_t dimension = 0; dimension < operand->labels.size(); ++dimension) {
      int64_t size = operand->tensor.shape()[dimension];
      auto [known, isNew] = sizes.try_emplace(operand->labels[dimension], size);
      if (!isNew && known->second != size)
        return invalidArgument("dimensions that go together have the sizes {} and {}", known->second, size);
    }
  Index shape, summed, summedSizes;
  for (int64_t label : resultLabels)
    shape.push_back(sizes[label]);
  for (auto [label, size] : sizes)
    if (!llvm::is_contained(resultLabels, label)) {
      summed.push_back(label);
      summedSizes.push_back(size);
    }
  TORCHERE_ASSIGN(Tensor result, Tensor::create(type, shape));
  int64_t count = lhs.tensor.count() + rhs.tensor.count() + result.count();
  TORCHERE_ASSIGN(MemoryShare share, MemoryShare::take(2 * count, sizeof(std::complex<double>)));
  auto lhsStarts = positionsOver(lhs, resultLabels, shape),
       rhsStarts = positionsOver(rhs, resultLabels, shape);
  auto lhsSteps = positionsOver(lhs, summed, summedSizes), rhsSteps = positionsOver(rhs, summed, summedSizes);
  withNumber(type, [&](auto zero) {
    auto left = numbersOf<decltype(zero)>(lhs.tensor, type);
    auto right = numbersOf<decltype(zero)>(rhs.tensor, type);
    for (int64_t position = 0; position < result.count(); ++position) {
      auto sum = zero;
      for (size_t step = 0; step < lhsSteps.size(); ++step)
        addProduct(sum, left[lhsStarts[position] + lhsSteps[step]],
                   right[rhsStarts[position] + rhsSteps[step]]);
      result.set(position, elementOf(type, sum));
    }
  });
  return result;
}

/// The labels of a tensor's dimensions, counted from `first`.
Index labelsFrom(int64_t first, const Tensor &tensor) {
  Index labels;
  for (int64_t dimension = 0; dimension < tensor.rank(); ++dimension)
    labels.push_back(first + dimension);
  return labels;
}

/// The result has the batching dimensions, then the remaining ones of lhs, then those of rhs.
Result<Values> contractDimensions(const Call &call, llvm::ArrayRef<int64_t> lhsBatching,
                                  llvm::ArrayRef<int64_t> rhsBatching, llvm::ArrayRef<int64_t> lhsContracting,
                                  llvm::ArrayRef<int64_t> rhsContracting) {
  const Tensor &lhs = call.operand(0), &rhs = call.operand(1);
  Index lhsLabels = labelsFrom(0, lhs), rhsLabels = labelsFrom(lhs.rank(), rhs), result;
  for (auto [left, right] : llvm::zip_equal(lhsBatching, rhsBatching)) {
    rhsLabels[right] = lhsLabels[left];
    result.push_back(lhsLabels[left]);
  }
  for (auto [left, right] : llvm::zip_equal(lhsContracting, rhsContracting))
    rhsLabels[right] = lhsLabels[left];
  for (int64_t dimension = 0; dimension < lhs.rank(); ++dimension)
    if (!llvm::is_contained(lhsBatching, dimension) && !llvm::is_contained(lhsContracting, dimension))
      result.push_back(lhsLabels[dimension]);
  for (int64_t dimension = 0; dimension < rhs.rank(); ++dimension)
    if (!llvm::is_contained(rhsBatching, dimension) && !llvm::is_contained(rhsContracting, dimension))
      result.push_back(rhsLabels[dimension]);
  TORCHERE_ASSIGN(ElementType type, call.resultType());
  TORCHERE_ASSIGN(Tensor product, contract({lhs, lhsLabels}, {rhs, rhsLabels}, result, type));
  return Values{std::move(product)};
}

Result<Values> dotGeneral(const Call &call) {
  auto numbers = call.attribute<stablehlo::DotDimensionNumbersAttr>("dot_dimension_numbers");
  return contractDimensions(call, numbers.getLhsBatchingDimensions(), numbers.getRhsBatchingDimensions(),
                            numbers.getLhsContractingDimensions(), numbers.getRhsContractingDimensions());
}

/// The last dimension of lhs is contracted with the first of rhs.
Result<Values> dot(const Call &call) {
  return contractDimensions(call, {}, {}, {call.operand(0).rank() - 1}, {0});
}

/// The labels of one term of an einsum: its letters.
Result<Index> termLabels(std::string_view term, const Tensor *operand) {
  Index labels;
  for (char letter : term)
    if (std::isalpha(static_cast<unsigned char>(letter)))
      labels.push_back(letter);
    else if (letter != ' ')
      return fail(ErrorCode::Unimplemented, "einsum_config has a '{}', expected letters only", letter);
  if (operand && static_cast<int64_t>(labels.size()) != operand->rank())
    return invalidArgument("einsum_config has {} letters for an operand of rank {}", labels.size(),
                           operand->rank());
  return labels;
}

/// "ij,jk->ik" for two operands, "ij->i" for one, which is multiplied by 1.
Result<Values> einsum(const Call &call) {
  std::string config = call.string("einsum_config");
  size_t arrow = config.find("->"), comma = config.find(',');
  bool isBinary = call.operandCount() == 2;
  if (arrow == std::string::npos || isBinary != (comma < arrow))
    return invalidArgument("einsum_config \"{}\": expected the labels of {} operands and of the result",
                           config, call.operandCount());
  std::string_view operands(config.data(), arrow);
  const Tensor &lhs = call.operand(0);
  TORCHERE_ASSIGN(Tensor one, Tensor::create(lhs.type(), {}));
  one.set(0, convert(Element::integer(ElementType::I64, 1), lhs.type()));
  const Tensor &rhs = isBinary ? call.operand(1) : one;
  TORCHERE_ASSIGN(Index lhsLabels, termLabels(operands.substr(0, isBinary ? comma : arrow), &lhs));
  TORCHERE_ASSIGN(Index rhsLabels, termLabels(isBinary ? operands.substr(comma + 1) : "", &rhs));
  TORCHERE_ASSIGN(Index labels, termLabels(std::string_view(config).substr(arrow + 2), nullptr));
  for (int64_t label : labels) {
    auto letter = static_cast<char>(label);
    if (!llvm::is_contained(lhsLabels, label) && !llvm::is_contained(rhsLabels, label))
      return invalidArgument("einsum_config \"{}\": no operand has the result's label '{}'", config, letter);
    if (llvm::count(labels, label) > 1)
      return invalidArgument("einsum_config \"{}\": the result has the label '{}' twice", config, letter);
  }
  TORCHERE_ASSIGN(ElementType type, call.resultType());
  TORCHERE_ASSIGN(Tensor result, contract({lhs, lhsLabels}, {rhs, rhsLabels}, labels, type));
  return Values{std::move(result)};
}

} // namespace

void addContraction(EvaluationTable &table) {
  table.addComputation("stablehlo.dot", dot);
  table.addComputation("stablehlo.dot_general", dotGeneral);
  table.addComputation("stablehlo.einsum", einsum);
  table.addComputation("stablehlo.unary_einsum", einsum);
}

} // namespace torchere::interpreter
