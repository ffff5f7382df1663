// Slices and pads whose places, steps and margins are computed: copies between strides that a run works out.
#pragma once

#include "cpu/plan/plan.h"

#include <tuple>

namespace torchere::cpu {

/// The integers of a dimension, each a view of one element.
struct ComputedPlace {
  View start, limit, step;
};

/// `real_dynamic_slice`: the elements from the starts on, as many as the output has.
class ComputedSliceStep final : public StoredStep<ComputedSliceStep> {
public:
  /// The views have at most kMaxRank dimensions.
  ComputedSliceStep(const View &input, const View &output, std::vector<ComputedPlace> places,
                    std::string source)
      : input(input), output(output), places(std::move(places)), source(std::move(source)) {}
  /// InvalidArgument for a slice that leaves the input, or that has another shape than the output.
  ComputedSliceStep() = default;
  static auto fields(auto &step) { return std::tie(step.input, step.output, step.places, step.source); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "slice"; }

private:
  View input, output;
  std::vector<ComputedPlace> places;
  std::string source;
};

/// The integers of a dimension, each a view of one element.
struct ComputedPadding {
  View low, high, interior;
};

/// `dynamic_pad`: puts the input's elements where the padding leaves them. All others are there already.
class ComputedPadStep final : public StoredStep<ComputedPadStep> {
public:
  /// The views have at most kMaxRank dimensions.
  ComputedPadStep(const View &input, const View &output, std::vector<ComputedPadding> paddings,
                  std::string source)
      : input(input), output(output), paddings(std::move(paddings)), source(std::move(source)) {}
  /// InvalidArgument for padding that gives another shape than the output's.
  ComputedPadStep() = default;
  static auto fields(auto &step) { return std::tie(step.input, step.output, step.paddings, step.source); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "pad"; }

private:
  View input, output;
  std::vector<ComputedPadding> paddings;
  std::string source;
};

} // namespace torchere::cpu
