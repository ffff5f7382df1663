// How resampling places its samples: which input elements, and how much of each, every result is made of.
#pragma once

#include "lowering/args.h"
#include "lowering/context.h"
#include "lowering/elements.h"

#include <optional>
#include <vector>

namespace torchere::lowering {

/// One axis of an image that gets another size.
struct ResampledAxis {
  int64_t axis;
  Dim in, out;
  std::optional<double> factor; ///< out / in as the caller gave it; else the sizes' quotient
  bool isScaled = false;        ///< out is that factor's multiple of in, rounded down
};

/// A part of each result along an axis: an input element and what it counts.
struct Tap {
  mlir::Value index;                 ///< [out], i64
  std::optional<mlir::Value> weight; ///< [out]; none: 1
};
using Taps = std::vector<Tap>;

/// The spatial axes (all but the first two) along which an image of shape `out` is not one of shape `in`.
std::vector<ResampledAxis> resampledAxes(const Args &args, llvm::ArrayRef<Dim> in, llvm::ArrayRef<Dim> out);

/// How far apart, on the input, the samples of neighbouring results are, as a 0-d float.
mlir::Value sampleDistance(Context &cx, const ResampledAxis &axis, bool alignCorners, DType dtype);

/// The element at the sample's place, rounded down; `isExact` samples at the middle of each result. Places
/// are computed in `dtype`, F32 or F64.
Taps nearestTaps(Context &cx, const ResampledAxis &axis, bool isExact, DType dtype);
/// How often nearestTaps() takes each element, one after the other, if it takes all of them equally often and
/// that is known before the sizes are.
std::optional<int64_t> nearestRepeats(const ResampledAxis &axis, bool isExact, DType dtype);
/// The two elements around the sample, by how near they are.
Taps linearTaps(Context &cx, const ResampledAxis &axis, bool alignCorners, DType dtype);
/// The four elements around the sample; those beyond the border are the ones at it.
Taps cubicTaps(Context &cx, const ResampledAxis &axis, bool alignCorners, DType dtype);

/// Keys' cubic kernel, for distances up to 1 and from 1 to 2; `a` is its slope at 1.
Elements cubicNear(const Elements &x, double a);
Elements cubicFar(const Elements &x, double a);
/// The slope that torch has chosen for interpolation.
inline constexpr double slopeOfCubicTaps = -0.75;

/// The same as a matrix [out, in].
mlir::Value matrixOf(Context &cx, const Taps &taps, const ResampledAxis &axis, DType dtype);

/// A filter against aliasing: where an image shrinks, that of each result grows as much.
enum class Filter { Linear, Cubic, Lanczos };

/// Its weights as a matrix [out, in]: of the elements that the filter reaches, with the sum 1.
mlir::Value filterMatrix(Context &cx, Filter filter, const ResampledAxis &axis, bool alignCorners,
                         DType dtype);

} // namespace torchere::lowering
