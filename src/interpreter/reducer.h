// Reducer: a region that combines scalars, as reduce, scatter and the like hold one.
#pragma once

#include "interpreter/call.h"

namespace torchere::interpreter {

class Reducer {
public:
  Reducer(const Call &call, size_t region) : call(call), region(call.region(region)) {}

  /// The scalars at `position` of each of the accumulators become what the body makes of them and `values`.
  Status combine(std::vector<Tensor> &accumulators, int64_t position, std::span<const Element> values) const;
  /// What the body returns for scalar arguments.
  Result<std::vector<Element>> run(std::span<const Element> arguments) const;

  /// The element types of what the body returns: those of the accumulators.
  Result<std::vector<ElementType>> types() const;

private:
  const Call &call;
  mlir::Region &region;
};

/// Tensors of one shape, one for each of the types, filled with the scalars `initial`.
Result<std::vector<Tensor>> makeAccumulators(const Index &shape, std::span<const ElementType> types,
                                             std::span<const Tensor> initial);

/// Moves tensors into the values of results.
Values toValues(std::vector<Tensor> tensors);
/// The tensors among an op's operands from `first` on.
std::vector<Tensor> tensorOperands(const Call &call, size_t first, size_t count);

} // namespace torchere::interpreter
