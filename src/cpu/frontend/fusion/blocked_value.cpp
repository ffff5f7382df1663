// Implements conversions between planar and blocked values.
#include "cpu/frontend/fusion/blocked_value.h"

#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/fusion/splats.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace torchere::cpu {

SmallVector<int64_t, 5> sizesOf(RankedTensorType planar, const PlanarOrder &order) {
  SmallVector<int64_t, 5> sizes;
  for (int64_t dimension : order)
    sizes.push_back(dimension < 0 ? 1 : planar.getDimSize(static_cast<unsigned>(dimension)));
  return sizes;
}

NamedAttribute haloAttribute(Builder &builder, ArrayRef<Halo> halos) {
  SmallVector<int64_t> sizes;
  for (const Halo &halo : halos)
    sizes.append({halo.rows, halo.columns});
  return builder.getNamedAttr("halos", builder.getDenseI64ArrayAttr(sizes));
}

Halo haloIn(KernelAttributes call, size_t tensor) {
  ArrayRef<int64_t> sizes = kernelIntegers(call, "halos");
  return {sizes[2 * tensor], sizes[2 * tensor + 1]};
}

RankedTensorType BlockedBuilder::typeOf(ArrayRef<int64_t> sizes, const Halo &halo, Type element) const {
  return RankedTensorType::get({sizes[0] * sizes[4], blocksOf(sizes[1]), sizes[2] + 2 * halo.rows,
                                sizes[3] + 2 * halo.columns, lanes()},
                               element);
}

Value BlockedBuilder::reshaped(Value value, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getShape() == shape
             ? value
             : stablehlo::ReshapeOp::create(builder, value.getLoc(), type.clone(shape), value)->getResult(0);
}

Value BlockedBuilder::broadcast(Value value, ArrayRef<int64_t> dimensions, RankedTensorType type) {
  return stablehlo::BroadcastInDimOp::create(builder, value.getLoc(), type, value,
                                             builder.getDenseI64ArrayAttr(dimensions))
      ->getResult(0);
}

/// Zeros behind the elements of a dimension, up to the size.
Value BlockedBuilder::padded(Value value, unsigned dimension, int64_t size) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t missing = size - type.getDimSize(dimension);
  if (missing == 0)
    return value;
  SmallVector<int64_t> none(static_cast<size_t>(type.getRank())), high = none, shape(type.getShape());
  high[dimension] = missing;
  shape[dimension] = size;
  Value zero = splatOf(builder, value.getLoc(), type.clone(ArrayRef<int64_t>()), 0);
  return stablehlo::PadOp::create(builder, value.getLoc(), type.clone(shape), value, zero,
                                  builder.getDenseI64ArrayAttr(none), builder.getDenseI64ArrayAttr(high),
                                  builder.getDenseI64ArrayAttr(none))
      ->getResult(0);
}

Value BlockedBuilder::paddedVector(Value vector) {
  int64_t channels = cast<RankedTensorType>(vector.getType()).getDimSize(0);
  return padded(vector, 0, blocksOf(channels) * lanes());
}

BlockedValue BlockedBuilder::toBlocked(Value planar, const PlanarOrder &order, const Halo &halo) {
  auto type = cast<RankedTensorType>(planar.getType());
  SmallVector<int64_t, 5> sizes = sizesOf(type, order);
  Operation *call =
      createKernelCall(builder, planar.getLoc(), "to_blocked", typeOf(sizes, halo, type.getElementType()),
                       planar, builder.getNamedAttr("order", builder.getDenseI64ArrayAttr(order)));
  return {call->getResult(0), sizes[1], halo, order, true, false, sizes[4]};
}

Value BlockedBuilder::toPlanar(const BlockedValue &blocked, RankedTensorType type) {
  SmallVector<int64_t, 5> sizes = sizesOf(type, blocked.order);
  Location location = blocked.value.getLoc();
  if (blocked.isPixel() && blocked.halo == Halo() && blocked.order[0] < blocked.order[1]) { // as it lies
    Value rows = reshaped(blocked.value, {sizes[0], blocksOf(sizes[1]) * lanes()});
    SmallVector<int64_t> starts(2), ends{sizes[0], sizes[1]}, strides(2, 1);
    Value used =
        stablehlo::SliceOp::create(builder, location, type.clone({sizes[0], sizes[1]}), rows,
                                   builder.getDenseI64ArrayAttr(starts), builder.getDenseI64ArrayAttr(ends),
                                   builder.getDenseI64ArrayAttr(strides))
            ->getResult(0);
    return reshaped(used, type.getShape());
  }
  Operation *call =
      createKernelCall(builder, location, "from_blocked", type, blocked.value,
                       {builder.getNamedAttr("order", builder.getDenseI64ArrayAttr(blocked.order)),
                        haloAttribute(builder, blocked.halo)});
  return call->getResult(0);
}

Value BlockedBuilder::interior(const BlockedValue &blocked) {
  if (blocked.halo == Halo())
    return blocked.value;
  RankedTensorType type = blocked.type();
  auto [rows, columns] = blocked.halo;
  SmallVector<int64_t> starts{0, 0, rows, columns, 0}, ends(type.getShape()), strides(5, 1);
  ends[2] -= rows;
  ends[3] -= columns;
  SmallVector<int64_t> shape(ends);
  shape[2] -= rows;
  shape[3] -= columns;
  return stablehlo::SliceOp::create(builder, blocked.value.getLoc(), type.clone(shape), blocked.value,
                                    builder.getDenseI64ArrayAttr(starts), builder.getDenseI64ArrayAttr(ends),
                                    builder.getDenseI64ArrayAttr(strides))
      ->getResult(0);
}

BlockedValue BlockedBuilder::spread(Value source, ArrayRef<int64_t> to, ArrayRef<int64_t> sizes,
                                    const PlanarOrder &order) {
  auto type = cast<RankedTensorType>(source.getType());
  int64_t own[5] = {1, 1, 1, 1, 1}, last = -1;
  for (auto [size, dimension] : llvm::zip_equal(type.getShape(), to)) {
    if (size == 1)
      continue;
    if (dimension <= last || dimension == 4) // another order than N, C, H, W
      return {};
    own[dimension] = size;
    last = dimension;
  }
  RankedTensorType full = typeOf(sizes, {}, type.getElementType());
  bool variesInPlanes = own[2] != 1 || own[3] != 1;
  if ((own[1] != 1 && variesInPlanes) || (own[0] != 1 && sizes[4] != 1))
    return {};
  BlockedValue result{{}, sizes[1], {}, order, true, true, sizes[4]};
  if (variesInPlanes || own[1] != sizes[1]) {
    result.value = broadcast(reshaped(source, {own[0], own[2], own[3]}), {0, 2, 3}, full);
    result.hasZeroLanes = sizes[1] % lanes() == 0;
    return result;
  }
  Value rows = padded(reshaped(source, {own[0], own[1]}), 1, blocksOf(sizes[1]) * lanes());
  result.value = broadcast(reshaped(rows, {own[0], blocksOf(sizes[1]), lanes()}), {0, 1, 4}, full);
  return result;
}

BlockedValue BlockedBuilder::spreadPixel(const BlockedValue &pixel, ArrayRef<int64_t> sizes,
                                         const PlanarOrder &order) {
  RankedTensorType type = pixel.type();
  Value source = interior(pixel);
  RankedTensorType full = typeOf(sizes, {}, type.getElementType());
  int64_t items = type.getDimSize(0), blocks = type.getDimSize(1);
  Value each = source;
  if (sizes[4] != 1) {
    Value rows = reshaped(source, {items, blocks, lanes()});
    each = broadcast(rows, {0, 2, 3}, type.clone({items, sizes[4], blocks, lanes()}));
    each = reshaped(each, {items * sizes[4], blocks, 1, 1, lanes()});
  }
  return {
      broadcast(each, {0, 1, 2, 3, 4}, full), pixel.channels, {}, order, pixel.hasZeroLanes, true, sizes[4]};
}

Value BlockedBuilder::withZeroLanes(Value value, int64_t channels) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<bool> used(static_cast<size_t>(blocksOf(channels) * lanes()));
  for (int64_t channel = 0; channel < channels; ++channel)
    used[static_cast<size_t>(channel)] = true;
  Location location = value.getLoc();
  Type flag = builder.getI1Type();
  auto vector = RankedTensorType::get({blocksOf(channels), lanes()}, flag);
  Value lanesInUse =
      stablehlo::ConstantOp::create(builder, location, DenseElementsAttr::get(vector, ArrayRef<bool>(used)))
          ->getResult(0);
  Value mask = broadcast(lanesInUse, {1, 4}, RankedTensorType::get(type.getShape(), flag));
  Value zero = splatOf(builder, location, type, 0);
  return stablehlo::SelectOp::create(builder, location, type, mask, value, zero)->getResult(0);
}

} // namespace torchere::cpu
