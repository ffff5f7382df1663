// Implements the conversion of constants from and to MLIR.
#include "evaluation/constants.h"

#include "stablehlo/element_type_conversion.h"
#include "stablehlo/text_of.h"

#include "mlir/IR/DialectResourceBlobManager.h"

#include <cstring>

using namespace mlir;

namespace torchere::evaluation {

/// MLIR 22 packs bools into bits; everything else has the interpreter's layout.
static void fill(Tensor &tensor, DenseElementsAttr elements) {
  if (tensor.type() == ElementType::Bool) {
    int64_t position = 0;
    for (bool value : elements.getValues<bool>())
      tensor.writableBytes()[position++] = std::byte(value);
    return;
  }
  ArrayRef<char> data = elements.getRawData();
  std::span<std::byte> target = tensor.writableBytes();
  if (!elements.isSplat()) {
    std::memcpy(target.data(), data.data(), target.size());
    return;
  }
  for (size_t offset = 0; offset < target.size(); offset += data.size())
    std::memcpy(target.data() + offset, data.data(), data.size());
}

Result<Tensor> tensorOf(ElementsAttr constant) {
  auto type = dyn_cast<RankedTensorType>(constant.getType());
  std::optional<ElementType> element = type ? stablehlo::storedTypeOf(type.getElementType()) : std::nullopt;
  if (!element)
    return fail(ErrorCode::Unimplemented, "constants of type {} cannot be interpreted",
                stablehlo::textOf(constant.getType()));
  TORCHERE_ASSIGN(Tensor tensor, Tensor::create(*element, Index(type.getShape())));
  if (auto dense = dyn_cast<DenseElementsAttr>(constant)) {
    fill(tensor, dense);
    return tensor;
  }
  auto resource = dyn_cast<DenseResourceElementsAttr>(constant);
  AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr;
  if (!blob)
    return fail(ErrorCode::Unimplemented, "the constant is neither dense nor a resource with data");
  if (blob->getData().size() != tensor.bytes().size())
    return invalidArgument("resource \"{}\" has the wrong size: got {} bytes, expected {} for {}",
                           resource.getRawHandle().getKey().str(), blob->getData().size(),
                           tensor.bytes().size(), tensor.typeText());
  std::memcpy(tensor.writableBytes().data(), blob->getData().data(), tensor.bytes().size());
  return tensor;
}

DenseElementsAttr constantOf(const Tensor &tensor, RankedTensorType type) {
  std::span<const std::byte> bytes = tensor.bytes();
  if (tensor.type() == ElementType::Bool)
    return DenseElementsAttr::get(type,
                                  ArrayRef<bool>(reinterpret_cast<const bool *>(bytes.data()), bytes.size()));
  return DenseElementsAttr::getFromRawBuffer(
      type, ArrayRef<char>(reinterpret_cast<const char *>(bytes.data()), bytes.size()));
}

std::optional<Element> splatOf(DenseElementsAttr constant) {
  std::optional<ElementType> type = stablehlo::elementTypeOf(constant.getElementType());
  if (!type || !constant.isSplat())
    return std::nullopt;
  if (*type == ElementType::Bool)
    return Element::integer(*type, constant.getSplatValue<bool>());
  return Element::load(*type, reinterpret_cast<const std::byte *>(constant.getRawData().data()));
}

} // namespace torchere::evaluation
