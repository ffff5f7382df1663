// Convolutions whose groups are one vector or narrower, or no whole number of halves of a vector: which lanes
// of the input each lane of the output reads.
#pragma once

#include "cpu/kernels/convolution.h"
#include "cpu/kernels/grouped_rows.h"

namespace torchere::cpu {

/// How many steps a block of outputs takes, at most; shorter ones are filled up.
int64_t groupedStepCount(const ConvolutionPlan &plan);
GroupedLanes groupedLanes(const ConvolutionPlan &plan);
/// The elements of a block of outputs among the packed weights.
int64_t groupedBlockElements(const ConvolutionPlan &plan);
void packGrouped(const ConvolutionPlan &plan, const float *weights, const int64_t (&strides)[5],
                 float *packed);

void groupedRows(Isa isa, const GroupedJob &job);

} // namespace torchere::cpu
