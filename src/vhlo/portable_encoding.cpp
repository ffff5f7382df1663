// Writes portable types and attributes: a code of the tables, then the parts.
#include "vhlo/dialect.h"
#include "vhlo/portable_form.h"
#include "vhlo/type_codes.h"

#include "stablehlo/dialect.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace torchere::vhlo {
namespace {

void writePart(DialectBytecodeWriter &writer, Type part) {
  writer.writeType(PortableType::get(part));
}

void writePart(DialectBytecodeWriter &writer, Attribute part) {
  writer.writeAttribute(PortableAttr::get(part));
}

void writeParts(DialectBytecodeWriter &writer, ArrayRef<Type> parts) {
  writer.writeList(parts, [&](Type part) { writePart(writer, part); });
}

void writeStorage(quant::QuantizedType type, DialectBytecodeWriter &writer) {
  writer.writeVarInt(type.getFlags());
  writePart(writer, type.getStorageType());
  writePart(writer, type.getExpressedType());
}

void writeStorageBounds(quant::QuantizedType type, DialectBytecodeWriter &writer) {
  writer.writeSignedVarInt(type.getStorageTypeMin());
  writer.writeSignedVarInt(type.getStorageTypeMax());
}

void writeQuantized(quant::UniformQuantizedType type, DialectBytecodeWriter &writer) {
  writer.writeVarInt(type_code::quantized);
  writeStorage(type, writer);
  writer.writeAPFloatWithKnownSemantics(APFloat(type.getScale()));
  writer.writeSignedVarInt(type.getZeroPoint());
  writeStorageBounds(type, writer);
}

void writeQuantized(quant::UniformQuantizedPerAxisType type, DialectBytecodeWriter &writer) {
  writer.writeVarInt(type_code::quantizedPerAxis);
  writeStorage(type, writer);
  writer.writeVarInt(type.getQuantizedDimension());
  writeStorageBounds(type, writer);
  writer.writeList(type.getScales(),
                   [&](double scale) { writer.writeAPFloatWithKnownSemantics(APFloat(scale)); });
  writer.writeSignedVarInts(type.getZeroPoints());
}

LogicalResult writeType(const PortableDialect &dialect, Type type, DialectBytecodeWriter &writer) {
  if (auto code = dialect.scalarCode(type))
    return writer.writeVarInt(*code), success();
  return TypeSwitch<Type, LogicalResult>(type)
      .Case([&](RankedTensorType tensor) {
        writer.writeVarInt(tensor.getEncoding() ? type_code::boundedTensor : type_code::rankedTensor);
        if (tensor.getEncoding())
          writePart(writer, tensor.getEncoding());
        writer.writeSignedVarInts(tensor.getShape());
        return writePart(writer, tensor.getElementType()), success();
      })
      .Case([&](UnrankedTensorType tensor) {
        writer.writeVarInt(type_code::unrankedTensor);
        return writePart(writer, tensor.getElementType()), success();
      })
      .Case([&](MemRefType buffer) {
        writer.writeVarInt(type_code::rankedBuffer);
        writer.writeSignedVarInts(buffer.getShape());
        return writePart(writer, buffer.getElementType()), success();
      })
      .Case([&](ComplexType complex) {
        writer.writeVarInt(type_code::complex);
        return writePart(writer, complex.getElementType()), success();
      })
      .Case([&](TupleType tuple) {
        writer.writeVarInt(type_code::tuple);
        return writeParts(writer, tuple.getTypes()), success();
      })
      .Case([&](FunctionType function) {
        writer.writeVarInt(type_code::function);
        writeParts(writer, function.getInputs());
        return writeParts(writer, function.getResults()), success();
      })
      .Case([&](stablehlo::FutureType future) {
        writer.writeVarInt(type_code::future);
        return writeParts(writer, future.getTypes()), success();
      })
      .Case([&](quant::UniformQuantizedType type) { return writeQuantized(type, writer), success(); })
      .Case([&](quant::UniformQuantizedPerAxisType type) { return writeQuantized(type, writer), success(); })
      .Default([](Type) { return failure(); });
}

/// The elements as the artifact has them. MLIR 22 keeps bools in bits and a splat as one element, which is
/// also the form on the wire, but for a single bool: there the wire has 1, memory 255.
ArrayRef<char> wireData(Attribute tensor) {
  static constexpr char one = 1;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(tensor))
    return resource.getRawHandle().getBlob()->getData();
  auto elements = cast<DenseIntOrFPElementsAttr>(tensor);
  bool isOneBool = elements.getElementType().isInteger(1) && elements.getNumElements() == 1;
  if (isOneBool && *elements.value_begin<bool>())
    return one;
  return elements.getRawData();
}

void writeTensor(Attribute tensor, DialectBytecodeWriter &writer) {
  writePart(writer, cast<ElementsAttr>(tensor).getType());
  writer.writeOwnedBlob(wireData(tensor)); // refers to memory of the context, or of the program
}

void writeAccuracy(stablehlo::ResultAccuracyAttr accuracy, DialectBytecodeWriter &writer) {
  writer.writeAPFloatWithKnownSemantics(accuracy.getAtol());
  writer.writeAPFloatWithKnownSemantics(accuracy.getRtol());
  writer.writeSignedVarInt(accuracy.getUlps());
  writePart(writer, accuracy.getMode());
}

void writeAlias(stablehlo::OutputOperandAliasAttr alias, DialectBytecodeWriter &writer) {
  writer.writeSignedVarInts(alias.getOutputTupleIndices());
  writer.writeSignedVarInt(alias.getOperandIndex());
  writer.writeSignedVarInts(alias.getOperandTupleIndices());
}

void writeName(DialectBytecodeWriter &writer, MLIRContext *context, StringRef name) {
  writePart(writer, Attribute(StringAttr::get(context, name)));
}

/// Meshes of devices, their axes, and the replica groups along axes.
void writeMesh(Attribute attribute, DialectBytecodeWriter &writer) {
  MLIRContext *context = attribute.getContext();
  if (auto part = dyn_cast<stablehlo::SubAxisInfoAttr>(attribute)) {
    writer.writeSignedVarInt(part.getPreSize());
    writer.writeSignedVarInt(part.getSize());
  } else if (auto reference = dyn_cast<stablehlo::AxisRefAttr>(attribute)) {
    writeName(writer, context, reference.getName());
    writer.writeVarInt(reference.getSubAxisInfo() ? 1 : 0);
    if (reference.getSubAxisInfo())
      writePart(writer, reference.getSubAxisInfo());
  } else if (auto axis = dyn_cast<stablehlo::MeshAxisAttr>(attribute)) {
    writeName(writer, context, axis.getName());
    writer.writeSignedVarInt(axis.getSize());
  } else if (auto mesh = dyn_cast<stablehlo::MeshAttr>(attribute)) {
    SmallVector<Attribute> axes(mesh.getAxes().begin(), mesh.getAxes().end());
    writePart(writer, Attribute(ArrayAttr::get(context, axes)));
    writer.writeOptionalAttribute(mesh.getDeviceIds() ? PortableAttr::get(mesh.getDeviceIds()) : Attribute());
  } else if (auto groups = dyn_cast<stablehlo::ReplicaGroupMeshAxesAttr>(attribute)) {
    writePart(writer, portableForm(groups.getMesh()));
    writePart(writer, Attribute(groups.getAxes()));
  }
}

LogicalResult writeEnum(PortableAttr attribute, DialectBytecodeWriter &writer) {
  for (const EnumCoding &coding : enumCodings())
    if (coding.code == attribute.code())
      if (auto value = coding.value(attribute.payload()))
        return writer.writeVarInt(*value), success();
  return failure();
}

LogicalResult writeAttribute(PortableAttr attribute, DialectBytecodeWriter &writer) {
  writer.writeVarInt(static_cast<uint64_t>(attribute.code()));
  Attribute payload = attribute.payload();
  switch (attribute.code()) {
  case AttributeCode::Array:
    writer.writeList(cast<ArrayAttr>(payload).getValue(), [&](Attribute part) { writePart(writer, part); });
    return success();
  case AttributeCode::Dictionary:
    writer.writeList(cast<DictionaryAttr>(payload).getValue(), [&](NamedAttribute entry) {
      writePart(writer, Attribute(entry.getName()));
      writePart(writer, entry.getValue());
    });
    return success();
  case AttributeCode::Boolean:
    return writer.writeVarInt(cast<BoolAttr>(payload).getValue()), success();
  case AttributeCode::String:
    return writer.writeOwnedString(cast<StringAttr>(payload).getValue()), success();
  case AttributeCode::Type:
    return writePart(writer, cast<TypeAttr>(payload).getValue()), success();
  case AttributeCode::Float:
    writePart(writer, cast<FloatAttr>(payload).getType());
    return writer.writeAPFloatWithKnownSemantics(cast<FloatAttr>(payload).getValue()), success();
  case AttributeCode::Integer:
    writePart(writer, cast<IntegerAttr>(payload).getType());
    return writer.writeAPIntWithKnownWidth(cast<IntegerAttr>(payload).getValue()), success();
  case AttributeCode::Tensor:
    return writeTensor(payload, writer), success();
  case AttributeCode::OutputOperandAlias:
    return writeAlias(cast<stablehlo::OutputOperandAliasAttr>(payload), writer), success();
  case AttributeCode::ResultAccuracy:
    return writeAccuracy(cast<stablehlo::ResultAccuracyAttr>(payload), writer), success();
  case AttributeCode::TypeExtensions:
    return writer.writeSignedVarInts(cast<stablehlo::TypeExtensionsAttr>(payload).getBounds()), success();
  case AttributeCode::SubAxisInfo:
  case AttributeCode::AxisRef:
  case AttributeCode::ReplicaGroupMeshAxes:
  case AttributeCode::MeshAxis:
  case AttributeCode::Mesh:
    return writeMesh(payload, writer), success();
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
  return writeEnum(attribute, writer);
}

class PortableEncoding : public BytecodeDialectInterface {
public:
  explicit PortableEncoding(Dialect *dialect) : BytecodeDialectInterface(dialect) {}

  LogicalResult writeAttribute(Attribute attribute, DialectBytecodeWriter &writer) const override {
    return vhlo::writeAttribute(cast<PortableAttr>(attribute), writer);
  }
  LogicalResult writeType(Type type, DialectBytecodeWriter &writer) const override {
    return vhlo::writeType(*static_cast<PortableDialect *>(getDialect()), cast<PortableType>(type).payload(),
                           writer);
  }
};

} // namespace

void addPortableEncoding(PortableDialect &dialect) {
  dialect.addInterfaces<PortableEncoding>();
}

} // namespace torchere::vhlo
