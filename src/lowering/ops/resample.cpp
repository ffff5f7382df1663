// Resampling of images to other sizes: nearest, linear and cubic, in one to three dimensions, and filtered
// against aliasing, also by Lanczos' filter.
#include "lowering/axis_matrix.h"
#include "lowering/elementwise.h"
#include "lowering/op_table.h"
#include "lowering/placement.h"
#include "lowering/resampling.h"

namespace torchere::lowering {

namespace {

/// The weighted sum of input elements, along one axis.
mlir::Value blend(Context &cx, mlir::Value value, int64_t axis, const Taps &taps) {
  mlir::Value sum;
  for (const Tap &tap : taps) {
    mlir::Value part = gatherSlices(cx, value, slicesAlong(cx, tap.index, axis));
    if (tap.weight)
      part = cx.elementwise<stablehlo::MulOp>({part, cx.broadcastInDim(*tap.weight, cx.shape(part), {axis})});
    sum = sum ? cx.elementwise<stablehlo::AddOp>({sum, part}) : part;
  }
  return sum;
}

mlir::Value image(const Args &args) {
  return args.tensor(args.has("input") ? "input" : "self");
}

/// Each element as often as its axes say, one after the other: a view for most compilers, or one copy.
mlir::Value repeatAlong(Context &cx, mlir::Value value, llvm::ArrayRef<ResampledAxis> axes,
                        llvm::ArrayRef<int64_t> counts) {
  Dims shape = cx.shape(value), spread, result = shape;
  Integers places;
  for (size_t i = 0; i < shape.size(); ++i) {
    places.push_back(static_cast<int64_t>(spread.size()));
    spread.push_back(shape[i]);
    for (auto [axis, count] : llvm::zip_equal(axes, counts))
      if (axis.axis == static_cast<int64_t>(i)) {
        spread.push_back(count);
        result[i] = axis.out;
      }
  }
  return cx.reshape(cx.broadcastInDim(value, spread, places), result);
}

template <bool isExact> mlir::Value nearest(Context &cx, const Args &args) {
  mlir::Value value = image(args);
  std::vector<ResampledAxis> whole, rest;
  Integers counts;
  DType places = cx.resultType().dtype == DType::F64 ? DType::F64 : DType::F32; // as torch computes them
  for (const ResampledAxis &axis : resampledAxes(args, cx.shape(value), cx.resultType().shape))
    if (std::optional<int64_t> count = nearestRepeats(axis, isExact, places)) {
      whole.push_back(axis);
      counts.push_back(*count);
    } else {
      rest.push_back(axis);
    }
  for (const ResampledAxis &axis : rest)
    value = blend(cx, value, axis.axis, nearestTaps(cx, axis, isExact, places));
  return whole.empty() ? value : repeatAlong(cx, value, whole, counts);
}

/// Floats, by `along` of each axis in turn.
template <class Along> Result<mlir::Value> ofFloats(Context &cx, const Args &args, Along along) {
  DType dtype = cx.resultType().dtype;
  if (!dtypeInfo(dtype).isFloatingPoint)
    return cx.unimplemented("integers are not supported: got {}, expected a floating-point dtype",
                            dtypeInfo(dtype).torchName);
  DType compute = computeType(dtype);
  mlir::Value value = cx.convert(image(args), compute);
  for (const ResampledAxis &axis : resampledAxes(args, cx.shape(value), cx.resultType().shape))
    value = along(value, axis, compute);
  return cx.convert(value, dtype);
}

template <auto tapsOf> Result<mlir::Value> interpolated(Context &cx, const Args &args) {
  return ofFloats(cx, args, [&](mlir::Value value, const ResampledAxis &axis, DType dtype) {
    return blend(cx, value, axis.axis, tapsOf(cx, axis, args.boolean("align_corners"), dtype));
  });
}

template <Filter filter> Result<mlir::Value> filtered(Context &cx, const Args &args) {
  return ofFloats(cx, args, [&](mlir::Value value, const ResampledAxis &axis, DType dtype) {
    mlir::Value matrix = filterMatrix(cx, filter, axis, args.boolean("align_corners"), dtype);
    return multiplyAlong(cx, value, axis.axis, matrix, 1);
  });
}

/// The row of an op that takes a list of sizes or of factors.
template <class Function>
void addByList(OpTable &table, const std::string &name, const std::string &options, Function function) {
  table.add(
      fmt::format("aten::{}.vec(Tensor input, SymInt[]? output_size, {}float[]? scale_factors) -> Tensor",
                  name, options),
      function);
}

/// A row for an op that takes sizes, and a factor for each dimension.
template <class Function>
void addBySize(OpTable &table, const std::string &name, size_t rank, const std::string &options,
               Function function) {
  static const std::string factors[] = {"float? scales=None", "float? scales_h=None, float? scales_w=None",
                                        "float? scales_d=None, float? scales_h=None, float? scales_w=None"};
  table.add(fmt::format("aten::{}(Tensor self, SymInt[{}] output_size, {}{}) -> Tensor", name, rank, options,
                        factors[rank - 1]),
            function);
}

} // namespace

void addResample(OpTable &table) {
  for (size_t rank = 1; rank <= 3; ++rank) {
    std::string plain = fmt::format("upsample_nearest{}d", rank);
    std::string exact = fmt::format("_upsample_nearest_exact{}d", rank);
    addByList(table, plain, "", nearest<false>);
    addBySize(table, plain, rank, "", nearest<false>);
    addByList(table, exact, "", nearest<true>);
    addBySize(table, exact, rank, "", nearest<true>);
  }
  // torch decomposes the two-dimensional variants that take sizes before a lowering can see them.
  const std::string corners = "bool align_corners, ";
  addByList(table, "upsample_linear1d", corners, interpolated<linearTaps>);
  addBySize(table, "upsample_linear1d", 1, corners, interpolated<linearTaps>);
  addByList(table, "upsample_bilinear2d", corners, interpolated<linearTaps>);
  addByList(table, "upsample_bicubic2d", corners, interpolated<cubicTaps>);
  addByList(table, "upsample_trilinear3d", corners, interpolated<linearTaps>);
  addBySize(table, "upsample_trilinear3d", 3, corners, interpolated<linearTaps>);
  addByList(table, "_upsample_bilinear2d_aa", corners, filtered<Filter::Linear>);
  addBySize(table, "_upsample_bilinear2d_aa", 2, corners, filtered<Filter::Linear>);
  addByList(table, "_upsample_bicubic2d_aa", corners, filtered<Filter::Cubic>);
  addBySize(table, "_upsample_bicubic2d_aa", 2, corners, filtered<Filter::Cubic>);
  addByList(table, "_upsample_lanczos2d_aa", corners, filtered<Filter::Lanczos>);
  addBySize(table, "_upsample_lanczos2d_aa", 2, corners, filtered<Filter::Lanczos>);
}

} // namespace torchere::lowering
