// Reducer: a region that combines scalars, as in reduce, scatter and others.
#pragma once

#include "interpreter/call.h"

namespace torchere::interpreter {

class Reducer {
public:
  Reducer(const Call &call, size_t region) : call(call), region(call.region(region)) {}

  /// Replaces the accumulators' scalars at `position` by the body's results for them and `values`.
  Status combine(std::vector<Tensor> &accumulators, int64_t position, std::span<const Element> values) const;
  /// The body's results for scalar arguments.
  Result<std::vector<Element>> run(std::span<const Element> arguments) const;

  /// The element types of the body's results, which are those of the accumulators.
  Result<std::vector<ElementType>> types() const;

private:
  const Call &call;
  mlir::Region &region;
};

/// Tensors of one shape, one for each type, filled with the scalars `initial`.
Result<std::vector<Tensor>> makeAccumulators(const Index &shape, std::span<const ElementType> types,
                                             std::span<const Tensor> initial);

/// Moves tensors into values.
Values toValues(std::vector<Tensor> tensors);
/// The tensors among an op's operands, from `first` on.
std::vector<Tensor> tensorOperands(const Call &call, size_t first, size_t count);

} // namespace torchere::interpreter
