// Elements of any dtype, by way of double.
#include "cli/elements.h"

#include "base/element_type.h"

namespace torchere::cli {

static const FloatFormat &formatOf(DType dtype) {
  return *elementTypeInfo(*elementTypeFromDType(dtype)).format;
}

double readElement(DType dtype, const void *element) {
  return visitElementType(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<T, SmallFloat>) {
      uint32_t bits = 0;
      std::memcpy(&bits, element, byteSize(dtype));
      return decodeFloat(bits, formatOf(dtype));
    } else {
      return static_cast<double>(loadElement<T>(element));
    }
  });
}

void writeElement(DType dtype, double value, void *element) {
  visitElementType(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<T, SmallFloat>) {
      uint32_t bits = encodeFloat(value, formatOf(dtype));
      std::memcpy(element, &bits, byteSize(dtype));
    } else {
      T converted = static_cast<T>(value);
      std::memcpy(element, &converted, sizeof converted);
    }
  });
}

} // namespace torchere::cli
