// Reads portable types and attributes: what portable_encoding.cpp writes.
#include "vhlo/attribute_codes.h"
#include "vhlo/attribute_table.h"
#include "vhlo/byte_cursor.h"
#include "vhlo/type_codes.h"

#include "stablehlo/dialect.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
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
  return element ? RankedTensorType::getChecked(Refusal(reader.context()), shape, element, encoding)
                 : RankedTensorType();
}

Type readBuffer(PartReader &reader) {
  SmallVector<int64_t> shape;
  if (!reader.integers(shape) || !isPortableShape(shape))
    return {};
  Type element = reader.type();
  return element ? MemRefType::getChecked(Refusal(reader.context()), shape, element,
                                          MemRefLayoutAttrInterface(), Attribute())
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

struct Storage {
  uint64_t flags = 0;
  Type type, expressed;
  int64_t least = 0, greatest = 0;
};

bool readStorage(PartReader &reader, Storage &storage) {
  storage.flags = reader.bytes().varInt();
  storage.type = reader.type();
  storage.expressed = storage.type ? reader.type() : Type();
  return storage.expressed && storage.flags <= quant::QuantizationFlags::Signed;
}

double readDouble(PartReader &reader) {
  return APFloat(APFloat::IEEEdouble(), APInt(64, reader.bits(64))).convertToDouble();
}

Type readQuantized(PartReader &reader) {
  Storage storage;
  if (!readStorage(reader, storage))
    return {};
  double scale = readDouble(reader);
  int64_t zeroPoint = reader.bytes().signedVarInt();
  storage.least = reader.bytes().signedVarInt();
  storage.greatest = reader.bytes().signedVarInt();
  if (reader.bytes().failed())
    return {};
  return quant::UniformQuantizedType::getChecked(Refusal(reader.context()), storage.flags, storage.type,
                                                 storage.expressed, scale, zeroPoint, storage.least,
                                                 storage.greatest);
}

Type readQuantizedPerAxis(PartReader &reader) {
  Storage storage;
  if (!readStorage(reader, storage))
    return {};
  uint64_t dimension = reader.bytes().varInt();
  storage.least = reader.bytes().signedVarInt();
  storage.greatest = reader.bytes().signedVarInt();
  SmallVector<double> scales;
  size_t count = reader.bytes().count();
  for (size_t index = 0; index < count; ++index)
    scales.push_back(readDouble(reader));
  SmallVector<int64_t> zeroPoints;
  if (!reader.integers(zeroPoints) || dimension > INT32_MAX)
    return {};
  return quant::UniformQuantizedPerAxisType::getChecked(
      Refusal(reader.context()), storage.flags, storage.type, storage.expressed, scales, zeroPoints,
      static_cast<int32_t>(dimension), storage.least, storage.greatest);
}

Attribute readAxisRef(PartReader &reader) {
  auto name = reader.attribute<StringAttr>();
  bool isPart = reader.bytes().varInt() != 0;
  auto part = isPart ? reader.attribute<stablehlo::SubAxisInfoAttr>() : stablehlo::SubAxisInfoAttr();
  if (!name || (isPart && !part))
    return {};
  return stablehlo::AxisRefAttr::get(reader.context(), name.getValue(), part);
}

Attribute readMeshAxis(PartReader &reader) {
  auto name = reader.attribute<StringAttr>();
  int64_t size = reader.bytes().signedVarInt();
  return name ? stablehlo::MeshAxisAttr::get(reader.context(), name.getValue(), size) : Attribute();
}

Attribute readMesh(PartReader &reader) {
  auto parts = reader.attribute<ArrayAttr>();
  auto [hasIds, ids] = reader.optionalAttribute();
  auto deviceIds = dyn_cast_or_null<DenseIntElementsAttr>(ids);
  if (!parts || !llvm::all_of(parts, llvm::IsaPred<stablehlo::MeshAxisAttr>) || (hasIds && !deviceIds))
    return {};
  SmallVector<stablehlo::MeshAxisAttr> axes(parts.getAsRange<stablehlo::MeshAxisAttr>());
  return stablehlo::MeshAttr::get(reader.context(), axes, deviceIds);
}

/// The mesh itself, or the name of an op that holds one.
Attribute readMeshAxes(PartReader &reader) {
  Attribute mesh = reader.attribute();
  auto axes = reader.attribute<ArrayAttr>();
  if (auto name = dyn_cast_or_null<StringAttr>(mesh))
    mesh = FlatSymbolRefAttr::get(name);
  if (!mesh || !axes)
    return {};
  return stablehlo::ReplicaGroupMeshAxesAttr::getChecked(Refusal(reader.context()), reader.context(), mesh,
                                                         axes);
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
  return stablehlo::ResultAccuracyAttr::getChecked(Refusal(reader.context()), reader.context(), atol, rtol,
                                                   ulps, mode);
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
      return ComplexType::getChecked(Refusal(reader.context()), element);
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
      return UnrankedTensorType::getChecked(Refusal(reader.context()), element);
    return {};
  case type_code::quantized:
    return readQuantized(reader);
  case type_code::quantizedPerAxis:
    return readQuantizedPerAxis(reader);
  case type_code::future: {
    SmallVector<Type> types;
    return reader.types(types) ? stablehlo::FutureType::getChecked(Refusal(reader.context()),
                                                                   reader.context(), ArrayRef<Type>(types))
                               : Type();
  }
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
  case AttributeCode::TypeExtensions: {
    SmallVector<int64_t> bounds;
    return reader.integers(bounds) ? stablehlo::TypeExtensionsAttr::get(context, bounds) : Attribute();
  }
  case AttributeCode::SubAxisInfo: {
    int64_t preSize = reader.bytes().signedVarInt(), size = reader.bytes().signedVarInt();
    return stablehlo::SubAxisInfoAttr::get(context, preSize, size);
  }
  case AttributeCode::AxisRef:
    return readAxisRef(reader);
  case AttributeCode::ReplicaGroupMeshAxes:
    return readMeshAxes(reader);
  case AttributeCode::MeshAxis:
    return readMeshAxis(reader);
  case AttributeCode::Mesh:
    return readMesh(reader);
  case AttributeCode::ComparisonDirection:
  case AttributeCode::ComparisonType:
  case AttributeCode::CustomCallApiVersion:
  case AttributeCode::FftType:
  case AttributeCode::Precision:
  case AttributeCode::RngAlgorithm:
  case AttributeCode::RngDistribution:
  case AttributeCode::Transpose:
  case AttributeCode::ResultAccuracyMode:
    break;
  }
  // Or a number that is no code.
  if (Attribute value = readEnum(reader, code))
    return value;
  return reader.fail(fmt::format("an attribute of code {}, which is unknown or not supported", number));
}

} // namespace torchere::vhlo
