// The fields of the structures in steps that are stored with a plan: all but memory, and what is derived.
#pragma once

#include "cpu/execute/attention_step.h"
#include "cpu/execute/bisection_step.h"
#include "cpu/execute/blocked_steps.h"
#include "cpu/execute/complex_product_step.h"
#include "cpu/execute/computed_place_steps.h"
#include "cpu/execute/control_steps.h"
#include "cpu/execute/convolution_step.h"
#include "cpu/execute/exchange_step.h"
#include "cpu/execute/extremum_step.h"
#include "cpu/execute/fft_step.h"
#include "cpu/execute/fold_step.h"
#include "cpu/execute/gather_step.h"
#include "cpu/execute/joined_step.h"
#include "cpu/execute/loop_program.h"
#include "cpu/execute/matmul_step.h"
#include "cpu/execute/matrix_steps.h"
#include "cpu/execute/random_bits_step.h"
#include "cpu/execute/reduce_step.h"
#include "cpu/execute/rows_step.h"
#include "cpu/execute/scatter_steps.h"
#include "cpu/execute/slice_step.h"
#include "cpu/execute/sort_step.h"
#include "cpu/execute/unfolded_convolution_step.h"
#include "cpu/execute/window_scatter_step.h"
#include "cpu/execute/window_steps.h"
#include "cpu/plan/archive.h"

namespace torchere::cpu {

/// TORCHERE_ENUMERATORS(enumeration, its last enumerator)
#define TORCHERE_ENUMERATORS(enumeration, final)                                                             \
  template <> struct Enumerators<enumeration> {                                                              \
    static constexpr enumeration last = enumeration::final;                                                  \
  }

TORCHERE_ENUMERATORS(Activation, HardSigmoid);
TORCHERE_ENUMERATORS(BlockedLayoutStep::Direction, FromBlocks);
TORCHERE_ENUMERATORS(ConvolutionKind, Winograd4);
TORCHERE_ENUMERATORS(CountComparison, GreaterEqual);
TORCHERE_ENUMERATORS(FftKind, RealInverse);
TORCHERE_ENUMERATORS(FloatOrder, Partial);
TORCHERE_ENUMERATORS(LoopOp, Run);
TORCHERE_ENUMERATORS(MaskKind, Boolean);
TORCHERE_ENUMERATORS(RandomAlgorithm, Philox);
TORCHERE_ENUMERATORS(Reduction, Or);
TORCHERE_ENUMERATORS(ScatterJoin, Or);
TORCHERE_ENUMERATORS(SliceStep::Direction, Write);
TORCHERE_ENUMERATORS(VectorOp, Store);
TORCHERE_ENUMERATORS(WindowRule, FirstToRemain);

// Views.

template <> struct Fields<ComputedPlace> {
  static auto of(auto &object) { return std::tie(object.start, object.limit, object.step); }
};
template <> struct Fields<ComputedPadding> {
  static auto of(auto &object) { return std::tie(object.low, object.high, object.interior); }
};
template <> struct Fields<Exchange> {
  static auto of(auto &object) {
    return std::tie(object.number, object.members, object.self, object.taken, object.given, object.part,
                    object.result);
  }
};
template <> struct Fields<Swap> {
  static auto of(auto &object) { return std::tie(object.value, object.next); }
};
template <> struct Fields<LoopCount> {
  static auto of(auto &object) {
    return std::tie(object.counter, object.limit, object.comparison, object.step);
  }
};
template <> struct Fields<LoopInstruction> {
  static auto of(auto &object) {
    return std::tie(object.op, object.function, object.type, object.to, object.result, object.operands,
                    object.count, object.sizes, object.index);
  }
};
template <> struct Fields<LoopIndex> {
  static auto of(auto &object) { return std::tie(object.place, object.type, object.wrap); }
};
template <> struct Fields<LoopAccess> {
  static auto of(auto &object) {
    return std::tie(object.whole, object.part, object.starts, object.isDropped);
  }
};
template <> struct Fields<FoldStep::Operand> {
  static auto of(auto &object) { return std::tie(object.input, object.initial, object.result); }
};
template <> struct Fields<JoinedStep::Output> {
  static auto of(auto &object) {
    return std::tie(object.type, object.reduction, object.initial, object.result);
  }
};
template <> struct Fields<MatrixView> {
  static auto of(auto &object) {
    return std::tie(object.view, object.batchStride, object.rowStride, object.columnStride);
  }
};
template <> struct Fields<ScatterFoldStep::Operand> {
  static auto of(auto &object) { return std::tie(object.tensor, object.updates); }
};
template <> struct Fields<WindowScatterStep::Views> {
  static auto of(auto &object) {
    return std::tie(object.operand, object.source, object.initial, object.result);
  }
};

// Products, convolutions, attention, rows.

template <> struct Fields<Matmul> {
  static auto of(auto &object) {
    return std::tie(object.type, object.leftType, object.resultType, object.batches, object.m, object.k,
                    object.n, object.a, object.b, object.result, object.bias, object.residual,
                    object.activation, object.keepsDenormals, object.weight, object.isConstant, object.choice,
                    object.choices);
  }
};
template <> struct Fields<AttentionArgs> {
  static auto of(auto &object) {
    return std::tie(object.type, object.outputType, object.scale, object.bound, object.causal,
                    object.causalOffset, object.mask, object.maskType, object.zeroWhenMasked);
  }
};
template <> struct Fields<RowsArgs> {
  static auto of(auto &object) {
    return std::tie(object.type, object.rows, object.columns, object.inputRowStride, object.outputRowStride);
  }
};
template <> struct Fields<BisectionArgs> {
  static auto of(auto &object) {
    return std::tie(object.type, object.placeType, object.length, object.count, object.turns, object.low,
                    object.high, object.isStrict, object.isLow);
  }
};
template <> struct Fields<ExtremumArgs> {
  static auto of(auto &object) {
    return std::tie(object.type, object.isLargest, object.placeType, object.outer, object.length,
                    object.inner);
  }
};
template <> struct Fields<SoftmaxArgs> {
  static auto of(auto &object) {
    return std::tie(object.rows, object.logarithm, object.zeroWhenMasked, object.inner);
  }
};
template <> struct Fields<NormArgs> {
  static auto of(auto &object) {
    return std::tie(object.rows, object.subtractMean, object.epsilon, object.hasWideFactors);
  }
};
template <> struct Fields<Halo> {
  static auto of(auto &object) { return std::tie(object.rows, object.columns); }
};
template <> struct Fields<BlockedTensor> {
  static auto of(auto &object) {
    return std::tie(object.batch, object.channels, object.height, object.width, object.halo, object.lanes);
  }
};
template <> struct Fields<DepthWindow> {
  static auto of(auto &object) {
    return std::tie(object.input, object.output, object.kernel, object.stride, object.padding,
                    object.dilation);
  }
};
template <> struct Fields<ConvolutionShape> {
  static auto of(auto &object) {
    return std::tie(object.batch, object.inputChannels, object.inputHeight, object.inputWidth,
                    object.outputChannels, object.outputHeight, object.outputWidth, object.groups,
                    object.kernel, object.stride, object.padding, object.dilation, object.phases,
                    object.depth);
  }
};
template <> struct Fields<ConvolutionPlan> {
  static auto of(auto &object) { return std::tie(object.shape, object.kind); }
};
template <> struct Fields<ConvolutionViews> {
  static auto of(auto &object) {
    return std::tie(object.input, object.weights, object.result, object.workspace, object.bias,
                    object.residual, object.slopes, object.factors, object.shifts, object.addsResidualLast,
                    object.gate, object.inputHalo, object.residualHalo, object.resultHalo, object.activation,
                    object.argument, object.isConstant);
  }
};
template <> struct Fields<PlannedConvolution> {
  static auto of(auto &object) { return std::tie(object.plan, object.views); }
};
template <> struct Fields<PoolingArgs> {
  static auto of(auto &object) {
    return std::tie(object.average, object.countPadding, object.kernel, object.stride, object.padding,
                    object.dilation, object.depth, object.input, object.output);
  }
};
template <> struct Fields<WeightGradientArgs> {
  static auto of(auto &object) {
    return std::tie(object.groups, object.kernel, object.stride, object.padding, object.dilation,
                    object.input, object.pixels);
  }
};
template <> struct Fields<UpsamplingArgs> {
  static auto of(auto &object) {
    return std::tie(object.factor, object.fillsZeros, object.input, object.output);
  }
};
template <> struct Fields<ChannelNormArgs> {
  static auto of(auto &object) {
    return std::tie(object.subtractMean, object.epsilon, object.input, object.output);
  }
};
template <> struct Fields<GroupNormArgs> {
  static auto of(auto &object) {
    return std::tie(object.groups, object.depth, object.epsilon, object.activation, object.input,
                    object.output);
  }
};
template <> struct Fields<ChannelChoiceStep::Input> {
  static auto of(auto &object) { return std::tie(object.view, object.tensor); }
};
template <> struct Fields<ConvolvedTensor> {
  static auto of(auto &object) { return std::tie(object.first, object.second, object.spatial); }
};
template <> struct Fields<ConvolvedAxis> {
  static auto of(auto &object) {
    return std::tie(object.input, object.output, object.kernel, object.stride, object.padding,
                    object.inputDilation, object.kernelDilation, object.reversed);
  }
};
template <> struct Fields<UnfoldedConvolution> {
  static auto of(auto &object) {
    return std::tie(object.type, object.resultType, object.rank, object.axes, object.batch, object.groups,
                    object.batchGroups, object.groupInputs, object.groupOutputs, object.input, object.weights,
                    object.output);
  }
};
template <> struct Fields<CholeskyArgs> {
  static auto of(auto &object) { return std::tie(object.type, object.batches, object.size, object.isLower); }
};
template <> struct Fields<LuArgs> {
  static auto of(auto &object) {
    return std::tie(object.type, object.batches, object.rows, object.columns, object.firstRow);
  }
};
template <> struct Fields<ComplexProductArgs> {
  static auto of(auto &object) { return std::tie(object.type, object.batches, object.m, object.k, object.n); }
};
template <> struct Fields<EigenArgs> {
  static auto of(auto &object) { return std::tie(object.type, object.batches, object.size); }
};
template <> struct Fields<SingularArgs> {
  static auto of(auto &object) {
    return std::tie(object.type, object.batches, object.rows, object.columns, object.isFull);
  }
};
template <> struct Fields<QrArgs> {
  static auto of(auto &object) { return std::tie(object.type, object.batches, object.rows, object.columns); }
};
template <> struct Fields<ReflectorsArgs> {
  static auto of(auto &object) {
    return std::tie(object.type, object.batches, object.rows, object.columns, object.packedColumns,
                    object.count, object.isAdjoint);
  }
};
template <> struct Fields<TriangularSolveArgs> {
  static auto of(auto &object) {
    return std::tie(object.type, object.batches, object.size, object.columns, object.isLeft, object.isLower,
                    object.isUnit, object.isTransposed, object.isConjugate);
  }
};

// Reductions, and slices at computed places.

template <> struct Fields<ReductionArgs> {
  static auto of(auto &object) {
    return std::tie(object.type, object.reduction, object.reduced, object.scale);
  }
};
template <> struct Fields<WindowsArgs> {
  static auto of(auto &object) {
    return std::tie(object.type, object.reduction, object.rank, object.outputDims, object.outputStrides,
                    object.windowDims, object.windowStrides);
  }
};
template <> struct Fields<RunningArgs> {
  static auto of(auto &object) {
    return std::tie(object.type, object.reduction, object.backwards, object.outer, object.length,
                    object.inner);
  }
};
template <> struct Fields<IndexedSlices> {
  static auto of(auto &object) {
    return std::tie(object.rank, object.dims, object.strides, object.sizes, object.sliceStrides,
                    object.batchRank, object.batchDims, object.batchStrides, object.indexStrides,
                    object.batchTarget, object.components, object.target, object.componentStride,
                    object.indexType);
  }
};
template <> struct Fields<ScatterArgs> {
  static auto of(auto &object) { return std::tie(object.slices, object.type, object.join); }
};

// Vector programs, and what is done by them.

template <> struct Fields<VectorInstruction> {
  static auto of(auto &object) {
    return std::tie(object.op, object.type, object.to, object.perRow, object.result, object.operands,
                    object.index);
  }
};
template <> struct Fields<VectorPhase> {
  static auto of(auto &object) { return std::tie(object.rowEnd, object.end); }
};
template <> struct Fields<VectorProgram> {
  static auto of(auto &object) {
    return std::tie(object.instructions, object.setupEnd, object.phases, object.constants, object.inputs,
                    object.outputs, object.slots, object.hasWholeRows);
  }
};
template <> struct Fields<FoldOperand> {
  static auto of(auto &object) {
    return std::tie(object.type, object.inputStrides, object.windowStrides, object.outputStrides);
  }
};
template <> struct Fields<FoldArgs> {
  static auto of(auto &object) {
    return std::tie(object.operands, object.captureTypes, object.rank, object.dims, object.windowRank,
                    object.windowDims, object.running);
  }
};
template <> struct Fields<ScatterFoldOperand> {
  static auto of(auto &object) { return std::tie(object.type); }
};
template <> struct Fields<ScatterFoldArgs> {
  static auto of(auto &object) { return std::tie(object.slices, object.operands, object.captureTypes); }
};
template <> struct Fields<SortKey> {
  static auto of(auto &object) { return std::tie(object.type, object.order, object.descending); }
};
template <> struct Fields<SortColumn> {
  static auto of(auto &object) { return std::tie(object.key, object.operand, object.program); }
};
template <> struct Fields<SortPlan> {
  static auto of(auto &object) { return std::tie(object.columns, object.comparator); }
};
template <> struct Fields<WindowExtremumArgs> {
  static auto of(auto &object) {
    return std::tie(object.type, object.isLargest, object.rule, object.placeType, object.emptyPlace,
                    object.planes, object.dims, object.outputDims, object.windowDims, object.strides,
                    object.dilations, object.padding);
  }
};
template <> struct Fields<WindowScatterArgs> {
  static auto of(auto &object) {
    return std::tie(object.type, object.rank, object.dims, object.sourceDims, object.windowDims,
                    object.windowStrides, object.padding);
  }
};

#undef TORCHERE_ENUMERATORS

} // namespace torchere::cpu
