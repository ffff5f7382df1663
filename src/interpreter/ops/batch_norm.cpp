// Batch normalization: statistics per feature, and normalization with them.
#include "interpreter/call.h"

#include <cmath>

namespace torchere::interpreter {

namespace {

using Numbers = std::vector<double>;

/// A tensor whose elements belong to features, which are the indices along one dimension.
class Features {
public:
  Features(const Tensor &operand, int64_t dimension) : operand(operand), dimension(dimension) {}

  int64_t count() const { return operand.shape()[dimension]; }
  /// The number of elements per feature.
  double size() const { return count() == 0 ? 0 : static_cast<double>(operand.count() / count()); }

  /// Calls `visit(position, feature)` for each element.
  template <class Visit> void forEach(Visit visit) const {
    forEachIndex(operand.shape(), [&](IndexView index, int64_t position) {
      visit(position, static_cast<size_t>(index[dimension]));
    });
  }
  /// For each feature the sum of `term(position, feature)`.
  template <class Term> Numbers sum(Term term) const {
    Numbers sums(static_cast<size_t>(count()));
    forEach([&](int64_t position, size_t feature) { sums[feature] += term(position, feature); });
    return sums;
  }
  /// A tensor like the operand, with the elements `value(position, feature)`.
  template <class Function> Result<Value> map(Function value) const {
    TORCHERE_ASSIGN(Tensor result, Tensor::create(operand.type(), operand.shape()));
    forEach([&](int64_t position, size_t feature) {
      result.set(position, Element::number(operand.type(), value(position, feature)));
    });
    return Value(std::move(result));
  }
  /// One number per feature, as a tensor.
  Result<Value> vector(const Numbers &numbers) const {
    TORCHERE_ASSIGN(Tensor result, Tensor::create(operand.type(), {count()}));
    for (size_t feature = 0; feature < numbers.size(); ++feature)
      result.set(static_cast<int64_t>(feature), Element::number(operand.type(), numbers[feature]));
    return Value(std::move(result));
  }

private:
  const Tensor &operand;
  int64_t dimension;
};

Numbers featureNumbers(const Tensor &tensor) {
  Numbers numbers;
  for (int64_t position = 0; position < tensor.count(); ++position)
    numbers.push_back(tensor.at(position).asDouble());
  return numbers;
}

double epsilonOf(const Call &call) {
  return call.attribute<mlir::FloatAttr>("epsilon").getValueAsDouble();
}

Result<Value> normalize(const Call &call, const Features &features, const Numbers &mean,
                        const Numbers &variance) {
  Numbers scale = featureNumbers(call.operand(1)), offset = featureNumbers(call.operand(2));
  double epsilon = epsilonOf(call);
  return features.map([&](int64_t position, size_t feature) {
    double centered = call.operand(0).at(position).asDouble() - mean[feature];
    return centered / std::sqrt(variance[feature] + epsilon) * scale[feature] + offset[feature];
  });
}

Result<Values> inference(const Call &call) {
  Features features(call.operand(0), call.integer("feature_index"));
  TORCHERE_ASSIGN(Value result, normalize(call, features, featureNumbers(call.operand(3)),
                                          featureNumbers(call.operand(4))));
  return Values{std::move(result)};
}

Result<Values> training(const Call &call) {
  const Tensor &operand = call.operand(0);
  Features features(operand, call.integer("feature_index"));
  Numbers mean = features.sum([&](int64_t position, size_t) { return operand.at(position).asDouble(); });
  for (double &value : mean)
    value /= features.size();
  Numbers variance = features.sum([&](int64_t position, size_t feature) {
    double centered = operand.at(position).asDouble() - mean[feature];
    return centered * centered;
  });
  for (double &value : variance)
    value /= features.size();
  TORCHERE_ASSIGN(Value result, normalize(call, features, mean, variance));
  TORCHERE_ASSIGN(Value meanVector, features.vector(mean));
  TORCHERE_ASSIGN(Value varianceVector, features.vector(variance));
  return Values{std::move(result), std::move(meanVector), std::move(varianceVector)};
}

Result<Values> gradient(const Call &call) {
  const Tensor &operand = call.operand(0), &gradOutput = call.operand(4);
  Features features(operand, call.integer("feature_index"));
  Numbers scale = featureNumbers(call.operand(1)), mean = featureNumbers(call.operand(2)),
          variance = featureNumbers(call.operand(3));
  for (double &value : variance)
    value += epsilonOf(call);
  auto centered = [&](int64_t position, size_t feature) {
    return operand.at(position).asDouble() - mean[feature];
  };
  auto outer = [&](int64_t position) { return gradOutput.at(position).asDouble(); };
  Numbers sum = features.sum([&](int64_t position, size_t) { return outer(position); });
  Numbers product = features.sum(
      [&](int64_t position, size_t feature) { return outer(position) * centered(position, feature); });
  double size = features.size();
  TORCHERE_ASSIGN(Value gradOperand, features.map([&](int64_t position, size_t feature) {
    double rest = size * outer(position) - sum[feature] -
                  product[feature] * centered(position, feature) / variance[feature];
    return scale[feature] / std::sqrt(variance[feature]) / size * rest;
  }));
  for (size_t feature = 0; feature < product.size(); ++feature)
    product[feature] /= std::sqrt(variance[feature]);
  TORCHERE_ASSIGN(Value gradScale, features.vector(product));
  TORCHERE_ASSIGN(Value gradOffset, features.vector(sum));
  return Values{std::move(gradOperand), std::move(gradScale), std::move(gradOffset)};
}

} // namespace

void addBatchNorm(EvaluationTable &table) {
  table.add("stablehlo.batch_norm_grad", gradient);
  table.add("stablehlo.batch_norm_inference", inference);
  table.add("stablehlo.batch_norm_training", training);
}

} // namespace torchere::interpreter
