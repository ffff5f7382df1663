// Reads portable types and attributes: what portable_encoding.cpp writes.
#include "vhlo/attribute_codes.h"
#include "vhlo/attribute_table.h"
#include "vhlo/byte_cursor.h"
#include "vhlo/type_codes.h"

#include "stablehlo/dialect.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeRange.h"

using namespace mlir;

namespace torchere::vhlo {
namespace {

Type readTensor(PartReader &reader, bool hasEncoding) {
  Attribute encoding;
  if (hasEncoding && !(encoding = reader.attribute()))
    return {};
  SmallVector<int64_t> shape;
  if (!reader.integers(shape) || !isPortableShape(shape))
    return {};
  Type element = reader.type();
  return element ? RankedTensorType::getChecked(silent, shape, element, encoding) : RankedTensorType();
}

Type readBuffer(PartReader &reader) {
  SmallVector<int64_t> shape;
  if (!reader.integers(shape) || !isPortableShape(shape))
    return {};
  Type element = reader.type();
  return element ? MemRefType::getChecked(silent, shape, element, MemRefLayoutAttrInterface(), Attribute())
                 : MemRefType();
}

Type readFunction(PartReader &reader) {
  SmallVector<Type> inputs, results;
  if (!reader.types(inputs) || !reader.types(results))
    return {};
  return FunctionType::get(reader.context(), inputs, results);
}

Type readTuple(PartReader &reader) {
  SmallVector<Type> types;
  return reader.types(types) ? TupleType::get(reader.context(), types) : Type();
}

Attribute readEnum(PartReader &reader, AttributeCode code) {
  uint64_t value = reader.bytes().varInt();
  for (const EnumCoding &coding : enumCodings())
    if (coding.code == code && value <= UINT32_MAX)
      return coding.get(reader.context(), value);
  return {};
}

Attribute readAlias(PartReader &reader) {
  SmallVector<int64_t> outputs, operands;
  if (!reader.integers(outputs))
    return {};
  int64_t operand = reader.bytes().signedVarInt();
  if (!reader.integers(operands))
    return {};
  return stablehlo::OutputOperandAliasAttr::get(reader.context(), outputs, operand, operands);
}

Attribute readAccuracy(PartReader &reader) {
  APFloat atol(APFloat::IEEEdouble(), APInt(64, reader.bits(64)));
  APFloat rtol(APFloat::IEEEdouble(), APInt(64, reader.bits(64)));
  int64_t ulps = reader.bytes().signedVarInt();
  auto mode = reader.attribute<stablehlo::ResultAccuracyModeAttr>();
  if (!mode)
    return {};
  return stablehlo::ResultAccuracyAttr::getChecked(silent, reader.context(), atol, rtol, ulps, mode);
}

Attribute readTensorAttribute(PartReader &reader) {
  Type type = reader.type();
  std::string_view bytes = reader.bytes().bytes(reader.bytes().varInt());
  if (!type || reader.bytes().failed())
    return {};
  Attribute elements = readElements(type, bytes);
  return elements ? elements : reader.fail("a tensor whose bytes are not as many as its type needs");
}

} // namespace

Type readPortableType(PartReader &reader) {
  uint64_t code = reader.bytes().varInt();
  switch (code) {
  case type_code::complex:
    if (Type element = reader.type())
      return ComplexType::getChecked(silent, element);
    return {};
  case type_code::function:
    return readFunction(reader);
  case type_code::rankedTensor:
  case type_code::boundedTensor:
    return readTensor(reader, code == type_code::boundedTensor);
  case type_code::tuple:
    return readTuple(reader);
  case type_code::unrankedTensor:
    if (Type element = reader.type())
      return UnrankedTensorType::getChecked(silent, element);
    return {};
  case type_code::rankedBuffer:
    return readBuffer(reader);
  default:
    for (const ScalarType &row : scalarTypes())
      if (row.code == code)
        return row.get(reader.context());
    return reader.fail(fmt::format("a type of code {}, which is unknown or not supported", code));
  }
}

Attribute readPortableAttribute(PartReader &reader) {
  uint64_t number = reader.bytes().varInt();
  auto code = static_cast<AttributeCode>(number <= 255 ? number : 0);
  MLIRContext *context = reader.context();
  switch (code) {
  case AttributeCode::Array: {
    SmallVector<Attribute> parts;
    return reader.attributes(parts) ? ArrayAttr::get(context, parts) : Attribute();
  }
  case AttributeCode::Dictionary:
    return reader.dictionary();
  case AttributeCode::Boolean:
    return BoolAttr::get(context, reader.bytes().varInt() != 0);
  case AttributeCode::String: {
    auto text = reader.string();
    return text ? StringAttr::get(context, StringRef(*text)) : Attribute();
  }
  case AttributeCode::Type:
    if (Type type = reader.type())
      return TypeAttr::get(type);
    return {};
  case AttributeCode::Float:
    return readFloat(reader, reader.type());
  case AttributeCode::Integer:
    return readInteger(reader, reader.type());
  case AttributeCode::Tensor:
    return readTensorAttribute(reader);
  case AttributeCode::OutputOperandAlias:
    return readAlias(reader);
  case AttributeCode::ResultAccuracy:
    return readAccuracy(reader);
  default:
    if (Attribute value = readEnum(reader, code))
      return value;
    return reader.fail(fmt::format("an attribute of code {}, which is unknown or not supported", number));
  }
}

} // namespace torchere::vhlo
