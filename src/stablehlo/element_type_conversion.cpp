// Implements the conversion of element types.
#include "stablehlo/element_type_conversion.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace torchere::stablehlo {

namespace {

struct FloatRow {
  ElementType type;
  bool (*isTypeOf)(Type type);
  Type (*make)(MLIRContext *context);
};

template <class Float> constexpr FloatRow floatRow(ElementType type) {
  return {type, [](Type candidate) { return isa<Float>(candidate); },
          [](MLIRContext *context) -> Type { return Float::get(context); }};
}

constexpr FloatRow floatTypes[] = {
    floatRow<Float32Type>(ElementType::F32),
    floatRow<Float64Type>(ElementType::F64),
    floatRow<BFloat16Type>(ElementType::BF16),
    floatRow<Float16Type>(ElementType::F16),
    floatRow<Float4E2M1FNType>(ElementType::F4E2M1FN),
    floatRow<Float6E2M3FNType>(ElementType::F6E2M3FN),
    floatRow<Float6E3M2FNType>(ElementType::F6E3M2FN),
    floatRow<Float8E3M4Type>(ElementType::F8E3M4),
    floatRow<Float8E4M3Type>(ElementType::F8E4M3),
    floatRow<Float8E4M3FNType>(ElementType::F8E4M3FN),
    floatRow<Float8E4M3FNUZType>(ElementType::F8E4M3FNUZ),
    floatRow<Float8E4M3B11FNUZType>(ElementType::F8E4M3B11FNUZ),
    floatRow<Float8E5M2Type>(ElementType::F8E5M2),
    floatRow<Float8E5M2FNUZType>(ElementType::F8E5M2FNUZ),
    floatRow<Float8E8M0FNUType>(ElementType::F8E8M0FNU),
};

std::optional<ElementType> integerTypeOf(IntegerType type) {
  if (type.isSigned())
    return std::nullopt;
  if (type.isSignless() && type.getWidth() == 1)
    return ElementType::Bool;
  ElementKind kind = type.isUnsigned() ? ElementKind::Unsigned : ElementKind::Signed;
  for (const ElementTypeInfo &info : elementTypes)
    if (info.kind == kind && info.bits == static_cast<int>(type.getWidth()))
      return info.type;
  return std::nullopt;
}

std::optional<ElementType> floatTypeOf(Type type) {
  for (const FloatRow &row : floatTypes)
    if (row.isTypeOf(type))
      return row.type;
  return std::nullopt;
}

Type floatType(ElementType type, MLIRContext *context) {
  for (const FloatRow &row : floatTypes)
    if (row.type == type)
      return row.make(context);
  llvm::report_fatal_error("[stablehlo] an element type is no float");
}

} // namespace

std::optional<ElementType> elementTypeOf(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integerTypeOf(integer);
  if (type.isIndex())
    return ElementType::I64;
  auto complex = dyn_cast<ComplexType>(type);
  if (!complex)
    return floatTypeOf(type);
  Type part = complex.getElementType();
  if (!part.isF32() && !part.isF64())
    return std::nullopt;
  return part.isF32() ? ElementType::C64 : ElementType::C128;
}

std::optional<ElementType> storedTypeOf(Type type) {
  if (std::optional<ElementType> element = elementTypeOf(type))
    return element;
  auto quantized = dyn_cast<quant::QuantizedType>(type);
  auto storage = quantized ? dyn_cast<IntegerType>(quantized.getStorageType()) : IntegerType();
  if (!storage)
    return std::nullopt;
  // The sign is the quantized type's own: what it stores is signless.
  auto signedness = quantized.isSigned() ? IntegerType::Signless : IntegerType::Unsigned;
  return integerTypeOf(IntegerType::get(type.getContext(), storage.getWidth(), signedness));
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

} // namespace torchere::stablehlo
