// The elements of arrays as numbers, for people and for JSON.
#include "cli/tensor_text.h"

#include "base/element_type.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace torchere::cli {

template <class T> static T load(const void *element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

static OrderedJson floatJson(double value) {
  if (std::isfinite(value))
    return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

/// A float32 as the shortest decimal that reads back as the same number, not the digits of its double.
static OrderedJson floatJson(float value) {
  if (!std::isfinite(value))
    return floatJson(static_cast<double>(value));
  return std::stod(fmt::format("{}", value));
}

OrderedJson elementJson(DType dtype, const void *element) {
  auto small = [=](uint32_t bits) {
    return floatJson(decodeFloat(bits, *elementTypeInfo(*elementTypeFromDType(dtype)).format));
  };
  auto byte = static_cast<const uint8_t *>(element);
  switch (dtype) {
  case DType::Bool:
    return *byte != 0;
  case DType::I8:
    return load<int8_t>(element);
  case DType::I16:
    return load<int16_t>(element);
  case DType::I32:
    return load<int32_t>(element);
  case DType::I64:
    return load<int64_t>(element);
  case DType::U8:
    return *byte;
  case DType::U16:
    return load<uint16_t>(element);
  case DType::U32:
    return load<uint32_t>(element);
  case DType::U64:
    return load<uint64_t>(element);
  case DType::F16:
  case DType::BF16:
    return small(load<uint16_t>(element));
  case DType::F32:
    return floatJson(load<float>(element));
  case DType::F64:
    return floatJson(load<double>(element));
  case DType::C32:
    return {elementJson(DType::F16, byte), elementJson(DType::F16, byte + 2)};
  case DType::C64:
    return {elementJson(DType::F32, byte), elementJson(DType::F32, byte + 4)};
  case DType::C128:
    return {elementJson(DType::F64, byte), elementJson(DType::F64, byte + 8)};
  case DType::F8E4M3FN:
  case DType::F8E4M3FNUZ:
  case DType::F8E5M2:
  case DType::F8E5M2FNUZ:
  case DType::F8E8M0FNU:
    return small(*byte);
  }
  return nullptr;
}

OrderedJson elementsJson(DType dtype, const void *data, size_t count, size_t limit) {
  OrderedJson list = OrderedJson::array();
  for (size_t index = 0; index < std::min(count, limit); ++index)
    list.push_back(elementJson(dtype, static_cast<const std::byte *>(data) + index * byteSize(dtype)));
  return list;
}

std::string elementsText(DType dtype, const void *data, size_t count, size_t limit) {
  std::string text;
  for (const OrderedJson &element : elementsJson(dtype, data, count, limit))
    text += (text.empty() ? "" : ", ") +
            (element.is_string() ? element.get<std::string>() : printJson(element, 0));
  return fmt::format("[{}{}]", text, count <= limit ? "" : text.empty() ? "..." : ", ...");
}

} // namespace torchere::cli
