// The gradients of resampling: what each result has taken of an input element, given back to it.
#include "lowering/axis_matrix.h"
#include "lowering/elementwise.h"
#include "lowering/op_table.h"
#include "lowering/resampling.h"

namespace torchere::lowering {

namespace {

/// What `matrix` of each axis does, backwards.
template <class Matrix> mlir::Value spreadBack(Context &cx, const Args &args, Matrix matrix) {
  const TensorType &type = cx.resultType();
  DType compute = computeType(type.dtype);
  mlir::Value value = cx.convert(args.tensor("grad_output"), compute);
  for (const ResampledAxis &axis : resampledAxes(args, type.shape, cx.shape(value)))
    value = multiplyAlong(cx, value, axis.axis, matrix(axis, compute), 0);
  return cx.convert(value, type.dtype);
}

template <Filter filter> mlir::Value filteredBackward(Context &cx, const Args &args) {
  return spreadBack(cx, args, [&](const ResampledAxis &axis, DType dtype) {
    return filterMatrix(cx, filter, axis, args.boolean("align_corners"), dtype);
  });
}

template <auto tapsOf> mlir::Value interpolatedBackward(Context &cx, const Args &args) {
  return spreadBack(cx, args, [&](const ResampledAxis &axis, DType dtype) {
    return matrixOf(cx, tapsOf(cx, axis, args.boolean("align_corners"), dtype), axis, dtype);
  });
}

template <bool isExact> mlir::Value nearestBackward(Context &cx, const Args &args) {
  return spreadBack(cx, args, [&](const ResampledAxis &axis, DType dtype) {
    return matrixOf(cx, nearestTaps(cx, axis, isExact, DType::F32), axis, dtype);
  });
}

constexpr const char *factors[] = {"float? scales=None", "float? scales_h=None, float? scales_w=None",
                                   "float? scales_d=None, float? scales_h=None, float? scales_w=None"};

/// The row of a gradient: `name` has the rank of the images in it.
template <class Function>
void addBackward(OpTable &table, const std::string &name, size_t rank, const std::string &options,
                 Function function) {
  table.add(
      fmt::format("aten::{}_backward(Tensor grad_output, SymInt[{}] output_size, SymInt[{}] input_size, "
                  "{}{}) -> Tensor",
                  name, rank, rank + 2, options, factors[rank - 1]),
      function);
}

} // namespace

void addResampleGradient(OpTable &table) {
  for (size_t rank = 1; rank <= 3; ++rank) {
    addBackward(table, fmt::format("upsample_nearest{}d", rank), rank, "", nearestBackward<false>);
    addBackward(table, fmt::format("_upsample_nearest_exact{}d", rank), rank, "", nearestBackward<true>);
  }
  const std::string corners = "bool align_corners, ";
  addBackward(table, "upsample_linear1d", 1, corners, interpolatedBackward<linearTaps>);
  addBackward(table, "upsample_bilinear2d", 2, corners, interpolatedBackward<linearTaps>);
  addBackward(table, "upsample_trilinear3d", 3, corners, interpolatedBackward<linearTaps>);
  addBackward(table, "upsample_bicubic2d", 2, corners, interpolatedBackward<cubicTaps>);
  addBackward(table, "_upsample_bilinear2d_aa", 2, corners, filteredBackward<Filter::Linear>);
  addBackward(table, "_upsample_bicubic2d_aa", 2, corners, filteredBackward<Filter::Cubic>);
  addBackward(table, "_upsample_lanczos2d_aa", 2, corners, filteredBackward<Filter::Lanczos>);
}

} // namespace torchere::lowering
