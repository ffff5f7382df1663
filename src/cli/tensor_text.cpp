// The elements of arrays as numbers, for people and for JSON.
#include "cli/tensor_text.h"

#include "cli/elements.h"

#include <algorithm>
#include <cmath>

namespace torchere::cli {

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
  if (DType part = partType(dtype); part != dtype) {
    auto first = static_cast<const std::byte *>(element);
    return {elementJson(part, first), elementJson(part, first + byteSize(part))};
  }
  return visitElementType(dtype, [&]<class T>(std::type_identity<T>) -> OrderedJson {
    if constexpr (std::is_same_v<T, SmallFloat>)
      return floatJson(readElement(dtype, element));
    else if constexpr (std::is_floating_point_v<T>)
      return floatJson(loadElement<T>(element));
    else
      return loadElement<T>(element);
  });
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
