// Numbers with types, and the elements of tensors.
#include "vhlo/attribute_table.h"
#include "vhlo/byte_cursor.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace torchere::vhlo {

Attribute readInteger(PartReader &reader, Type type) {
  auto integer = dyn_cast_or_null<IntegerType>(type);
  unsigned width = integer ? integer.getWidth() : isa_and_nonnull<IndexType>(type) ? 64 : 0;
  if (width == 0 || width > 64)
    return reader.fail("an integer of a type that has no width, or of more than 64 bits");
  return IntegerAttr::get(type, APInt(width, reader.bits(width)));
}

Attribute readFloat(PartReader &reader, Type type) {
  auto floating = dyn_cast_or_null<FloatType>(type);
  if (!floating || floating.getWidth() > 64)
    return reader.fail("a number that is no float of at most 64 bits");
  unsigned width = llvm::APFloat::getSizeInBits(floating.getFloatSemantics());
  return FloatAttr::get(type, APFloat(floating.getFloatSemantics(), APInt(width, reader.bits(width))));
}

/// The product of the sizes, if the shape is static and no larger than memory can be.
static std::optional<uint64_t> elementCount(ShapedType type) {
  uint64_t count = 1;
  for (int64_t size : type.getShape())
    if (size < 0 || __builtin_mul_overflow(count, static_cast<uint64_t>(size), &count) ||
        count > (uint64_t(1) << 48))
      return std::nullopt;
  return count;
}

/// Bools as bits, the first in the lowest, or as bytes. A splat is one byte: all bits where bools are bits,
/// 1 where they are bytes. (Of up to eight bools one byte is their bits.)
static Attribute readBooleans(RankedTensorType type, uint64_t count, std::string_view bytes) {
  if (count == 0 && bytes.empty())
    return DenseElementsAttr::get(type, ArrayRef<bool>());
  uint64_t packedSize = llvm::divideCeil(count, 8);
  bool canBeSplat = count == 0 || count > 8; // no elements have a value too, if they were made as a splat
  bool isSplat = bytes.size() == 1 &&
                 (count == 1 || (canBeSplat && (bytes[0] == 0 || bytes[0] == 1 || bytes[0] == char(0xff))));
  if (isSplat)
    return DenseElementsAttr::get(type, bytes[0] != 0);
  bool isPacked = bytes.size() == packedSize;
  if (!isPacked && bytes.size() != count)
    return {};
  SmallVector<char> packed(packedSize);
  bool anySet = false, allSet = true;
  for (uint64_t index = 0; index < count; ++index) {
    bool isSet = isPacked ? bytes[index / 8] >> (index % 8) & 1 : bytes[index] != 0;
    packed[index / 8] |= isSet << (index % 8);
    anySet = anySet || isSet;
    allSet = allSet && isSet;
  }
  if (anySet == allSet)
    return DenseElementsAttr::get(type, anySet);
  return DenseElementsAttr::getFromRawBuffer(type, packed);
}

Attribute readElements(Type type, std::string_view bytes) {
  auto tensor = dyn_cast_or_null<RankedTensorType>(type);
  auto count = tensor ? elementCount(tensor) : std::nullopt;
  if (!count)
    return {};
  Type element = tensor.getElementType();
  if (element.isInteger(1))
    return readBooleans(tensor, *count, bytes);
  Type part = isa<ComplexType>(element) ? cast<ComplexType>(element).getElementType() : element;
  bool isNumber = part.isIndex() || (part.isIntOrFloat() && part.getIntOrFloatBitWidth() <= 64);
  bool isSplat = false;
  if (!isNumber || !DenseElementsAttr::isValidRawBuffer(tensor, {bytes.data(), bytes.size()}, isSplat))
    return {};
  return DenseElementsAttr::getFromRawBuffer(tensor, {bytes.data(), bytes.size()});
}

} // namespace torchere::vhlo
