// Implements the evaluation of bodies on scalars.
#include "interpreter/reducer.h"

#include "stablehlo/element_type_conversion.h"
#include "stablehlo/text_of.h"

#include "mlir/IR/TypeUtilities.h"

namespace torchere::interpreter {

Result<std::vector<Element>> Reducer::run(std::span<const Element> arguments) const {
  Values values;
  values.reserve(arguments.size());
  for (auto [argument, name] : llvm::zip_equal(arguments, region.getArguments())) {
    // An accumulator may have a wider type than the inputs.
    std::optional<ElementType> type = stablehlo::storedTypeOf(mlir::getElementTypeOrSelf(name.getType()));
    bool isOther = type && *type != argument.type();
    values.push_back(Tensor::scalar(isOther ? convert(argument, *type) : argument));
  }
  TORCHERE_ASSIGN(Values results, call.run(region, std::move(values)));
  std::vector<Element> elements;
  for (const Value &result : results)
    elements.push_back(result.tensor().at(int64_t(0)));
  return elements;
}

Status Reducer::combine(std::vector<Tensor> &accumulators, int64_t position,
                        std::span<const Element> values) const {
  std::vector<Element> arguments;
  for (const Tensor &accumulator : accumulators)
    arguments.push_back(accumulator.at(position));
  arguments.insert(arguments.end(), values.begin(), values.end());
  TORCHERE_ASSIGN(std::vector<Element> results, run(arguments));
  for (size_t index = 0; index < accumulators.size(); ++index)
    accumulators[index].set(position, convert(results[index], accumulators[index].type()));
  return {};
}

Result<std::vector<ElementType>> Reducer::types() const {
  std::vector<ElementType> types;
  for (mlir::Value returned : region.front().getTerminator()->getOperands()) {
    std::optional<ElementType> type = stablehlo::storedTypeOf(mlir::getElementTypeOrSelf(returned.getType()));
    if (!type)
      return fail(ErrorCode::Unimplemented, "elements of type {} cannot be interpreted",
                  stablehlo::textOf(returned.getType()));
    types.push_back(*type);
  }
  return types;
}

Result<std::vector<Tensor>> makeAccumulators(const Index &shape, std::span<const ElementType> types,
                                             std::span<const Tensor> initial) {
  std::vector<Tensor> accumulators;
  for (size_t index = 0; index < types.size(); ++index) {
    TORCHERE_ASSIGN(Tensor accumulator, Tensor::create(types[index], shape));
    Element value = convert(initial[index].at(int64_t(0)), types[index]);
    for (int64_t position = 0; position < accumulator.count(); ++position)
      accumulator.set(position, value);
    accumulators.push_back(std::move(accumulator));
  }
  return accumulators;
}

Values toValues(std::vector<Tensor> tensors) {
  return Values(std::make_move_iterator(tensors.begin()), std::make_move_iterator(tensors.end()));
}

std::vector<Tensor> tensorOperands(const Call &call, size_t first, size_t count) {
  std::vector<Tensor> tensors;
  for (size_t index = first; index < first + count; ++index)
    tensors.push_back(call.operand(index));
  return tensors;
}

} // namespace torchere::interpreter
