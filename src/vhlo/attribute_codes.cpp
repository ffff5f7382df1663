// The table of attribute codes, and the first version that can hold each attribute.
#include "vhlo/attribute_codes.h"

#include "vhlo/type_codes.h"

#include "stablehlo/dialect.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace torchere::vhlo {
namespace {

template <class EnumAttr, auto symbolize> constexpr EnumCoding coding(AttributeCode code) {
  return {code,
          [](Attribute attribute) -> std::optional<uint32_t> {
            auto value = dyn_cast<EnumAttr>(attribute);
            return value ? std::optional(static_cast<uint32_t>(value.getValue())) : std::nullopt;
          },
          [](MLIRContext *context, uint32_t number) -> Attribute {
            auto value = symbolize(number);
            return value ? Attribute(EnumAttr::get(context, *value)) : Attribute();
          }};
}

using namespace stablehlo;

#define TORCHERE_ENUM(name)                                                                                  \
  coding<name##Attr, static_cast<std::optional<name> (*)(uint32_t)>(symbolize##name)>(AttributeCode::name)

const EnumCoding enums[] = {
    TORCHERE_ENUM(ComparisonDirection),
    TORCHERE_ENUM(ComparisonType),
    TORCHERE_ENUM(CustomCallApiVersion),
    TORCHERE_ENUM(FftType),
    TORCHERE_ENUM(Precision),
    TORCHERE_ENUM(ResultAccuracyMode),
    TORCHERE_ENUM(RngAlgorithm),
    TORCHERE_ENUM(RngDistribution),
    TORCHERE_ENUM(Transpose),
};

Since sinceParts(Attribute attribute) {
  Since since = minimumVersion;
  attribute.walkImmediateSubElements([&](Attribute part) { since = latest(since, attributeSince(part)); },
                                     [&](Type part) { since = latest(since, typeSince(part)); });
  return since;
}

} // namespace

ArrayRef<EnumCoding> enumCodings() {
  return enums;
}

std::optional<AttributeCode> codeOf(Attribute attribute) {
  using Code = std::optional<AttributeCode>;
  return TypeSwitch<Attribute, Code>(attribute)
      .Case([](ArrayAttr) { return AttributeCode::Array; })
      .Case([](DictionaryAttr) { return AttributeCode::Dictionary; })
      .Case([](StringAttr) { return AttributeCode::String; })
      .Case([](TypeAttr) { return AttributeCode::Type; })
      .Case([](FloatAttr) { return AttributeCode::Float; })
      .Case([](BoolAttr) { return AttributeCode::Boolean; })
      .Case([](IntegerAttr) { return AttributeCode::Integer; })
      .Case<DenseIntOrFPElementsAttr, DenseResourceElementsAttr>([](auto) { return AttributeCode::Tensor; })
      .Case([](OutputOperandAliasAttr) { return AttributeCode::OutputOperandAlias; })
      .Case([](TypeExtensionsAttr) { return AttributeCode::TypeExtensions; })
      .Case([](SubAxisInfoAttr) { return AttributeCode::SubAxisInfo; })
      .Case([](AxisRefAttr) { return AttributeCode::AxisRef; })
      .Case([](ReplicaGroupMeshAxesAttr) { return AttributeCode::ReplicaGroupMeshAxes; })
      .Case([](MeshAxisAttr) { return AttributeCode::MeshAxis; })
      .Case([](MeshAttr) { return AttributeCode::Mesh; })
      .Case([](ResultAccuracyAttr) { return AttributeCode::ResultAccuracy; })
      .Default([](Attribute attribute) -> Code {
        for (const EnumCoding &coding : enums)
          if (coding.code != AttributeCode::CustomCallApiVersion && coding.value(attribute))
            return coding.code;
        return std::nullopt;
      });
}

Since attributeSince(Attribute attribute) {
  auto code = codeOf(attribute);
  if (!code)
    return std::nullopt;
  switch (*code) {
  case AttributeCode::ResultAccuracyMode:
  case AttributeCode::ResultAccuracy:
    return Version{1, 9, 0};
  case AttributeCode::Array:
  case AttributeCode::Dictionary:
  case AttributeCode::Type:
  case AttributeCode::Float:
  case AttributeCode::Integer:
    return sinceParts(attribute);
  case AttributeCode::Mesh: // its device ids may be of any integers
    return latest(Version{1, 16, 0}, sinceParts(attribute));
  case AttributeCode::ReplicaGroupMeshAxes: {
    Attribute mesh = cast<ReplicaGroupMeshAxesAttr>(attribute).getMesh();
    return isa<MeshAttr>(mesh) ? attributeSince(mesh) : Since(Version{1, 16, 0});
  }
  case AttributeCode::Tensor:
    return typeSince(cast<ElementsAttr>(attribute).getType());
  case AttributeCode::SubAxisInfo:
  case AttributeCode::AxisRef:
  case AttributeCode::MeshAxis:
    return Version{1, 16, 0};
  case AttributeCode::Boolean:
  case AttributeCode::ComparisonDirection:
  case AttributeCode::ComparisonType:
  case AttributeCode::CustomCallApiVersion:
  case AttributeCode::FftType:
  case AttributeCode::OutputOperandAlias:
  case AttributeCode::Precision:
  case AttributeCode::RngAlgorithm:
  case AttributeCode::RngDistribution:
  case AttributeCode::String:
  case AttributeCode::Transpose:
  case AttributeCode::TypeExtensions:
    break;
  }
  return minimumVersion;
}

} // namespace torchere::vhlo
