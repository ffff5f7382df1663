// Implements the conversion of MLIR's types and constants.
#include "interpreter/mlir_values.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace mlir;

namespace torchere::interpreter {

static std::optional<ElementType> integerType(IntegerType type) {
  if (type.isSigned())
    return std::nullopt;
  bool isUnsigned = type.isUnsigned();
  switch (type.getWidth()) {
  case 1:
    return isUnsigned ? std::nullopt : std::optional(ElementType::Bool);
  case 2:
    return isUnsigned ? ElementType::U2 : ElementType::I2;
  case 4:
    return isUnsigned ? ElementType::U4 : ElementType::I4;
  case 8:
    return isUnsigned ? ElementType::U8 : ElementType::I8;
  case 16:
    return isUnsigned ? ElementType::U16 : ElementType::I16;
  case 32:
    return isUnsigned ? ElementType::U32 : ElementType::I32;
  case 64:
    return isUnsigned ? ElementType::U64 : ElementType::I64;
  default:
    return std::nullopt;
  }
}

/// The sign is the quantized type's own: what it stores is signless.
static std::optional<ElementType> storageType(quant::QuantizedType type) {
  auto storage = dyn_cast<IntegerType>(type.getStorageType());
  if (!storage)
    return std::nullopt;
  auto signedness = type.isSigned() ? IntegerType::Signless : IntegerType::Unsigned;
  return integerType(IntegerType::get(type.getContext(), storage.getWidth(), signedness));
}

template <class T> static std::string printed(const T &object) {
  std::string text;
  llvm::raw_string_ostream(text) << object;
  return text;
}

std::optional<ElementType> elementTypeOf(Type type) {
  if (type.isF32())
    return ElementType::F32;
  if (auto integer = dyn_cast<IntegerType>(type))
    return integerType(integer);
  if (type.isF64())
    return ElementType::F64;
  if (type.isBF16() || type.isF16())
    return type.isF16() ? ElementType::F16 : ElementType::BF16;
  if (type.isIndex())
    return ElementType::I64;
  if (auto complex = dyn_cast<ComplexType>(type)) {
    Type part = complex.getElementType();
    return part.isF32()   ? std::optional(ElementType::C64)
           : part.isF64() ? std::optional(ElementType::C128)
                          : std::nullopt;
  }
  if (auto quantized = dyn_cast<quant::QuantizedType>(type))
    return storageType(quantized);
  return isa<FloatType>(type) ? elementTypeFromName(printed(type)) : std::nullopt;
}

static Type floatType(ElementType type, MLIRContext *context) {
  switch (type) {
  case ElementType::F4E2M1FN:
    return Float4E2M1FNType::get(context);
  case ElementType::F6E2M3FN:
    return Float6E2M3FNType::get(context);
  case ElementType::F6E3M2FN:
    return Float6E3M2FNType::get(context);
  case ElementType::F8E3M4:
    return Float8E3M4Type::get(context);
  case ElementType::F8E4M3:
    return Float8E4M3Type::get(context);
  case ElementType::F8E4M3FN:
    return Float8E4M3FNType::get(context);
  case ElementType::F8E4M3FNUZ:
    return Float8E4M3FNUZType::get(context);
  case ElementType::F8E4M3B11FNUZ:
    return Float8E4M3B11FNUZType::get(context);
  case ElementType::F8E5M2:
    return Float8E5M2Type::get(context);
  case ElementType::F8E5M2FNUZ:
    return Float8E5M2FNUZType::get(context);
  case ElementType::F8E8M0FNU:
    return Float8E8M0FNUType::get(context);
  case ElementType::BF16:
    return BFloat16Type::get(context);
  case ElementType::F16:
    return Float16Type::get(context);
  case ElementType::F32:
    return Float32Type::get(context);
  case ElementType::F64:
    return Float64Type::get(context);
  case ElementType::Bool:
  case ElementType::I2:
  case ElementType::I4:
  case ElementType::I8:
  case ElementType::I16:
  case ElementType::I32:
  case ElementType::I64:
  case ElementType::U2:
  case ElementType::U4:
  case ElementType::U8:
  case ElementType::U16:
  case ElementType::U32:
  case ElementType::U64:
  case ElementType::C64:
  case ElementType::C128:
    break;
  }
  llvm::report_fatal_error("[interpreter] an element type is no float");
}

Type mlirTypeOf(ElementType type, MLIRContext *context) {
  const ElementTypeInfo &info = elementTypeInfo(type);
  switch (info.kind) {
  case ElementKind::Bool:
  case ElementKind::Signed:
    return IntegerType::get(context, info.bits);
  case ElementKind::Unsigned:
    return IntegerType::get(context, info.bits, IntegerType::Unsigned);
  case ElementKind::Complex:
    return ComplexType::get(floatType(partType(type), context));
  case ElementKind::Float:
    return floatType(type, context);
  }
  return {};
}

RankedTensorType mlirTypeOf(const Tensor &tensor, MLIRContext *context) {
  return RankedTensorType::get(tensor.shape(), mlirTypeOf(tensor.type(), context));
}

/// MLIR 22 packs bools in bits; everything else has the interpreter's layout.
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

Result<Tensor> tensorOf(ElementsAttr attribute) {
  auto type = dyn_cast<RankedTensorType>(attribute.getType());
  std::optional<ElementType> element = type ? elementTypeOf(type.getElementType()) : std::nullopt;
  if (!element)
    return fail(ErrorCode::Unimplemented, "constants of type {} cannot be interpreted",
                typeText(attribute.getType()));
  TORCHERE_ASSIGN(Tensor tensor, Tensor::create(*element, Index(type.getShape())));
  if (auto dense = dyn_cast<DenseElementsAttr>(attribute)) {
    fill(tensor, dense);
    return tensor;
  }
  auto resource = dyn_cast<DenseResourceElementsAttr>(attribute);
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

bool isOfType(const Value &value, Type type) {
  if (auto tuple = dyn_cast<TupleType>(type))
    return value.isTuple() && value.elements().size() == tuple.size() &&
           llvm::all_of(llvm::zip(value.elements(), tuple.getTypes()),
                        [](auto pair) { return isOfType(std::get<0>(pair), std::get<1>(pair)); });
  auto declared = dyn_cast<RankedTensorType>(type);
  if (!declared || !value.isTensor())
    return !declared && !value.isTensor(); // tokens and futures
  const Tensor &tensor = value.tensor();
  if (tensor.rank() != declared.getRank() || elementTypeOf(declared.getElementType()) != tensor.type())
    return false;
  return llvm::all_of(llvm::zip_equal(tensor.shape(), declared.getShape()), [](auto sizes) {
    return ShapedType::isDynamic(std::get<1>(sizes)) || std::get<0>(sizes) == std::get<1>(sizes);
  });
}

std::string typeText(const Value &value) {
  return value.isTensor() ? value.tensor().typeText() : value.isTuple() ? "a tuple" : "a token";
}

std::string typeText(Type type) {
  return printed(type);
}

std::string placeText(Location location) {
  std::string place;
  location->walk([&](Location part) {
    auto line = dyn_cast<FileLineColLoc>(part);
    if (!line)
      return WalkResult::advance();
    place = fmt::format("{}:{}:{}", line.getFilename().str(), line.getLine(), line.getColumn());
    return WalkResult::interrupt();
  });
  return place;
}

} // namespace torchere::interpreter
