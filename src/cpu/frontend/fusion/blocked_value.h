// BlockedValue: a tensor in blocks of channels, beside the planar one that it stands for.
#pragma once

#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/kernels/convolution.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"

#include <array>

namespace torchere::cpu {

/// Which dimensions of a planar tensor are N, C, H, W and D; -1 for one that it has not, which is of size 1.
using PlanarOrder = std::array<int64_t, 5>;

inline mlir::RankedTensorType tensorTypeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

struct BlockedValue {
  mlir::Value value; ///< N D x blocks x (H + 2 halo.rows) x (W + 2 halo.columns) x lanes
  int64_t channels = 0;
  Halo halo;
  PlanarOrder order{};
  bool hasZeroLanes = true; ///< beyond the last channel; kernels rely on it
  bool isRepeated = false;  ///< a smaller tensor, repeated
  int64_t depth = 1;        ///< images of an item

  explicit operator bool() const { return static_cast<bool>(value); }
  mlir::RankedTensorType type() const { return mlir::cast<mlir::RankedTensorType>(value.getType()); }
  int64_t images() const { return type().getDimSize(0); }
  int64_t batch() const { return images() / depth; }
  int64_t height() const { return type().getDimSize(2) - 2 * halo.rows; }
  int64_t width() const { return type().getDimSize(3) - 2 * halo.columns; }
  bool isPixel() const { return height() == 1 && width() == 1 && depth == 1; }
  /// N, C, H, W and D.
  llvm::SmallVector<int64_t, 5> sizes() const { return {batch(), channels, height(), width(), depth}; }
};

/// Builds blocked values and conversions, all of one number of lanes.
class BlockedBuilder {
public:
  BlockedBuilder(mlir::OpBuilder &builder, Isa isa) : builder(builder), targetIsa(isa) {}

  Isa isa() const { return targetIsa; }
  int64_t lanes() const { return floatLanes(targetIsa); }
  mlir::RankedTensorType typeOf(llvm::ArrayRef<int64_t> sizes, const Halo &halo, mlir::Type element) const;
  /// Of a planar tensor of f32; `halo` zeros around it.
  BlockedValue toBlocked(mlir::Value planar, const PlanarOrder &order, const Halo &halo);
  /// The planar tensor of the type, whose dimensions are in the value's order.
  mlir::Value toPlanar(const BlockedValue &blocked, mlir::RankedTensorType type);
  /// Without the halo.
  mlir::Value interior(const BlockedValue &blocked);
  /// A planar tensor repeated to the sizes N, C, H, W, D, in blocks. Its dimension i is dimension to[i] of
  /// these; what is repeated along C must not vary along H and W. Null for other forms.
  BlockedValue spread(mlir::Value source, llvm::ArrayRef<int64_t> to, llvm::ArrayRef<int64_t> sizes,
                      const PlanarOrder &order);
  /// Of one pixel, repeated over all of the sizes H, W and D.
  BlockedValue spreadPixel(const BlockedValue &pixel, llvm::ArrayRef<int64_t> sizes,
                           const PlanarOrder &order);
  /// A vector of the channels, with zeros up to a whole number of blocks.
  mlir::Value paddedVector(mlir::Value vector);
  /// Zeros in the lanes beyond the last channel.
  mlir::Value withZeroLanes(mlir::Value value, int64_t channels);

  mlir::Value reshaped(mlir::Value value, llvm::ArrayRef<int64_t> shape);

private:
  int64_t blocksOf(int64_t channels) const { return (channels + lanes() - 1) / lanes(); }
  mlir::Value padded(mlir::Value value, unsigned dimension, int64_t size);
  mlir::Value broadcast(mlir::Value value, llvm::ArrayRef<int64_t> dimensions, mlir::RankedTensorType type);

  mlir::OpBuilder &builder;
  Isa targetIsa;
};

/// The halos of a kernel call's tensors, as its attribute `halos`.
mlir::NamedAttribute haloAttribute(mlir::Builder &builder, llvm::ArrayRef<Halo> halos);
/// That of one of these tensors.
Halo haloIn(KernelAttributes call, size_t tensor);

/// The sizes N, C, H, W, D of a planar tensor.
llvm::SmallVector<int64_t, 5> sizesOf(mlir::RankedTensorType planar, const PlanarOrder &order);

} // namespace torchere::cpu
