// Implements the order of the fusions.
#include "cpu/frontend/fusion/fusion.h"

#include "base/log.h"
#include "passes/simplify/dead_code.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

struct NamedFusion {
  StringRef name;
  Fusion apply;
  bool isForOpenSizes = false;
};

/// In their order: a fusion may match what an earlier one has made.
const NamedFusion fusions[] = {
    {"wide_islands", fuseWideIslands},
    {"three_fry", fuseThreeFry},
    {"batch_norm", fuseBatchNorms},
    {"own_places", fuseOwnPlaces},
    {"interpolation", fuseInterpolations},
    {"bisection", fuseBisections},
    {"even_slices", fuseEvenSlices},
    {"chosen_matrix", fuseChosenMatrices},
    {"softmax", fuseSoftmax, true},
    {"attention", fuseAttentions},
    {"causal_mask", fuseCausalMasks},
    {"norm", fuseNorms, true},
    {"extremum", fuseExtrema},
    {"silu", fuseSilu, true},
    {"gelu", fuseGelu, true},
    {"erf", fuseErrorFunctions, true},
    {"narrow", fuseNarrowValues, true},
    {"rotary", fuseRotary},
    {"input_padding", fuseInputPadding},
    {"whole_windows", fuseWholeWindows},
    {"dilated_points", fuseDilatedPoints},
    {"dilated_depth", fuseDilatedDepths},
    {"parallel_convolution", fuseParallelConvolutions},
    {"dead_taps", fuseDeadTaps},
    {"channel_factors", fuseChannelFactors},
    {"early_activation", fuseEarlyActivations},
    {"place_masks", fusePlaceMasks},
    {"complex_parts", fuseComplexParts},
    {"sibling_dots", fuseSiblingDots},
    {"dot", fuseDots, true},
};

} // namespace

void joinCommonValues(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  DominanceInfo dominance(function);
  eliminateCommonSubExpressions(rewriter, dominance, function);
}

/// Applies those that need no sizes, or all. Which matched, and how often.
static std::string applyFusions(func::FuncOp function, bool isOpen) {
  std::string matched;
  for (const NamedFusion &fusion : fusions) {
    int64_t count = isOpen && !fusion.isForOpenSizes ? 0 : fusion.apply(function);
    if (count == 0)
      continue;
    passes::eraseDeadOps(function);
    matched += fmt::format(" {}={}", fusion.name.str(), count);
  }
  return matched;
}

void fuseOpen(func::FuncOp function) {
  std::string matched = applyFusions(function, /*isOpen=*/true);
  TORCHERE_LOG_LINE(Debug, "cpu", "[{}] fused for all sizes:{}", function.getSymName().str(),
                    matched.empty() ? " none" : matched);
}

void fuse(func::FuncOp function, Isa isa) {
  joinCommonValues(function); // fusions ask whether two values are one
  std::string matched = applyFusions(function, /*isOpen=*/false);
  if (int64_t count = fuseConvolutions(function, isa))
    matched += fmt::format(" convolution={}", count);
  if (int64_t count = fuseGates(function, isa))
    matched += fmt::format(" gate={}", count);
  if (int64_t count = fuseConvolutionPairs(function, isa))
    matched += fmt::format(" convolution_pair={}", count);
  TORCHERE_LOG_LINE(Debug, "cpu", "[{}] fused:{}", function.getSymName().str(),
                    matched.empty() ? " none" : matched);
}

} // namespace torchere::cpu
