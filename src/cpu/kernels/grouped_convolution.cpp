// Implements the packing of convolutions with narrow groups.
#include "cpu/kernels/grouped_convolution.h"

#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace torchere::cpu {
namespace {

/// Channel `index` of each lane's group, as far as it lies in the block `source` of the input.
struct GroupedStep {
  int64_t index = 0;
  int64_t source = 0;
};

/// The input channel that an output channel reads as the one of this index in its group.
int64_t inputChannel(const ConvolutionShape &shape, int64_t output, int64_t index) {
  int64_t inputs = shape.inputChannels / shape.groups, outputs = shape.outputChannels / shape.groups;
  return output / outputs * inputs + index;
}

std::vector<GroupedStep> stepsOf(const ConvolutionPlan &plan, int64_t block) {
  const ConvolutionShape &shape = plan.shape;
  int64_t lanes = floatLanes(plan.isa), last = std::min((block + 1) * lanes, shape.outputChannels) - 1;
  std::vector<GroupedStep> steps;
  for (int64_t index = 0; index < shape.inputChannels / shape.groups; ++index) {
    int64_t source = -1;
    for (int64_t output = block * lanes; output <= last; ++output)
      if (int64_t of = inputChannel(shape, output, index) / lanes; of != source)
        steps.push_back({index, source = of});
  }
  return steps;
}

int64_t blocksOf(const ConvolutionPlan &plan) {
  return divideUp(plan.shape.outputChannels, floatLanes(plan.isa));
}

} // namespace

int64_t groupedStepCount(const ConvolutionPlan &plan) {
  size_t most = 0;
  for (int64_t block = 0; block < blocksOf(plan); ++block)
    most = std::max(most, stepsOf(plan, block).size());
  return static_cast<int64_t>(most);
}

GroupedLanes groupedLanes(const ConvolutionPlan &plan) {
  const ConvolutionShape &shape = plan.shape;
  int64_t inputs = shape.inputChannels / shape.groups, outputs = shape.outputChannels / shape.groups;
  if (plan.groupSteps != inputs)
    return GroupedLanes::Masked;
  constexpr int64_t kNear = 4;
  return outputs % floatLanes(plan.isa) == 0         ? GroupedLanes::Same
         : inputs == outputs && kNear % outputs == 0 ? GroupedLanes::Near
                                                     : GroupedLanes::Any;
}

int64_t groupedBlockElements(const ConvolutionPlan &plan) {
  int64_t taps = plan.shape.kernel[0] * plan.shape.kernel[1];
  return plan.groupSteps * (kGroupedHeader + taps) * floatLanes(plan.isa);
}

void packGrouped(const ConvolutionPlan &plan, const float *weights, const int64_t (&strides)[5],
                 float *packed) {
  const ConvolutionShape &shape = plan.shape;
  int64_t lanes = floatLanes(plan.isa), width = shape.kernel[1], taps = shape.kernel[0] * width;
  int64_t stepElements = (kGroupedHeader + taps) * lanes, elements = groupedBlockElements(plan);
  for (int64_t block = 0; block < blocksOf(plan); ++block) {
    float *to = packed + block * elements;
    std::vector<GroupedStep> steps = stepsOf(plan, block);
    for (int64_t i = 0; i < elements / stepElements; ++i, to += stepElements) {
      bool isUsed = i < static_cast<int64_t>(steps.size());
      GroupedStep step = isUsed ? steps[static_cast<size_t>(i)] : GroupedStep();
      std::memset(to, 0, static_cast<size_t>(stepElements) * sizeof(float));
      for (int64_t lane = 0; lane < lanes; ++lane) {
        int64_t output = block * lanes + lane;
        int64_t input = output < shape.outputChannels ? inputChannel(shape, output, step.index) : -1;
        bool takes = isUsed && input >= 0 && input / lanes == step.source;
        auto from = static_cast<int32_t>(takes ? input % lanes : -1),
             source = static_cast<int32_t>(step.source);
        std::memcpy(to + lane, &from, sizeof from);
        std::memcpy(to + lanes + lane, &source, sizeof source);
        for (int64_t tap = 0; takes && tap < taps; ++tap)
          to[(kGroupedHeader + tap) * lanes + lane] =
              weights[output * strides[0] + step.index * strides[1] + tap / width * strides[2] +
                      tap % width * strides[3]];
      }
    }
  }
}

void groupedRows(Isa isa, const GroupedJob &job) {
#ifdef TORCHERE_CPU_X86
  if (isa == Isa::Avx512)
    return avx512::groupedRows(job);
  if (isa == Isa::Avx2)
    return avx2::groupedRows(job);
#endif
  (void)isa;
  baseline::groupedRows(job);
}

} // namespace torchere::cpu
