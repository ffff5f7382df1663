// Flattens and rebuilds attributes, both from one list of fields per attribute.
#include "vhlo/spread_attributes.h"

#include "vhlo/attribute_table.h"
#include "vhlo/portable_form.h"

#include "stablehlo/dialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

#include <tuple>

using namespace mlir;

namespace torchere::vhlo {
namespace {

using namespace stablehlo;
using Dims = SmallVector<int64_t>;
using FieldLookup = function_ref<Attribute(std::string_view)>;

/// Reads fields of an artifact; remembers whether one was invalid.
class FieldSource {
public:
  FieldSource(MLIRContext *context, FieldLookup field) : context(context), field(field) {}

  Attribute any(std::string_view name) { return field(name); }
  void take(std::string_view name, Dims &dims) {
    Attribute value = field(name);
    std::optional<Dims> found = value ? dimensionsOf(value) : Dims();
    isValid = isValid && found;
    dims = found.value_or(Dims());
  }
  void take(std::string_view name, int64_t &integer) {
    auto value = dyn_cast_or_null<IntegerAttr>(field(name));
    bool fits = value && value.getType().isSignlessInteger(64);
    isValid = isValid && fits;
    integer = fits ? value.getInt() : 0;
  }
  void take(std::string_view name, bool &flag) {
    auto value = dyn_cast_or_null<BoolAttr>(field(name));
    isValid = isValid && value;
    flag = value && value.getValue();
  }
  void take(std::string_view name, Type &type) {
    auto value = dyn_cast_or_null<TypeAttr>(field(name));
    isValid = isValid && value;
    type = value ? value.getValue() : Type();
  }

  MLIRContext *context;
  bool isValid = true;

private:
  FieldLookup field;
};

Attribute portable(Builder &builder, ArrayRef<int64_t> dims) {
  return builder.getI64TensorAttr(dims);
}
Attribute portable(Builder &builder, int64_t integer) {
  return builder.getI64IntegerAttr(integer);
}
Attribute portable(Builder &builder, bool flag) {
  return builder.getBoolAttr(flag);
}
Attribute portable(Builder &, Type type) {
  return TypeAttr::get(type);
}

/// One field: the artifact's name, and the parameter of StableHLO's attribute.
template <class Attr, class Value> struct Field {
  using Owner = Attr;
  /// The type that holds a value while the attribute is rebuilt.
  using Kept = std::conditional_t<std::is_same_v<Value, ArrayRef<int64_t>>, Dims, Value>;

  std::string_view name;
  Value (Attr::*parameter)() const;
};
template <class Attr, class Value> Field(const char *, Value (Attr::*)() const) -> Field<Attr, Value>;

// The fields of each attribute, in the order of its parameters.

using Conv = ConvDimensionNumbersAttr;
constexpr std::tuple convolutionFields{
    Field{"input_batch_dimension", &Conv::getInputBatchDimension},
    Field{"input_feature_dimension", &Conv::getInputFeatureDimension},
    Field{"input_spatial_dimensions", &Conv::getInputSpatialDimensions},
    Field{"kernel_input_feature_dimension", &Conv::getKernelInputFeatureDimension},
    Field{"kernel_output_feature_dimension", &Conv::getKernelOutputFeatureDimension},
    Field{"kernel_spatial_dimensions", &Conv::getKernelSpatialDimensions},
    Field{"output_batch_dimension", &Conv::getOutputBatchDimension},
    Field{"output_feature_dimension", &Conv::getOutputFeatureDimension},
    Field{"output_spatial_dimensions", &Conv::getOutputSpatialDimensions},
};
constexpr std::tuple dotFields{
    Field{"lhs_batching_dimensions", &DotDimensionNumbersAttr::getLhsBatchingDimensions},
    Field{"rhs_batching_dimensions", &DotDimensionNumbersAttr::getRhsBatchingDimensions},
    Field{"lhs_contracting_dimensions", &DotDimensionNumbersAttr::getLhsContractingDimensions},
    Field{"rhs_contracting_dimensions", &DotDimensionNumbersAttr::getRhsContractingDimensions},
};
constexpr std::tuple algorithmFields{
    Field{"lhs_precision_type", &DotAlgorithmAttr::getLhsPrecisionType},
    Field{"rhs_precision_type", &DotAlgorithmAttr::getRhsPrecisionType},
    Field{"accumulation_type", &DotAlgorithmAttr::getAccumulationType},
    Field{"lhs_component_count", &DotAlgorithmAttr::getLhsComponentCount},
    Field{"rhs_component_count", &DotAlgorithmAttr::getRhsComponentCount},
    Field{"num_primitive_operations", &DotAlgorithmAttr::getNumPrimitiveOperations},
    Field{"allow_imprecise_accumulation", &DotAlgorithmAttr::getAllowImpreciseAccumulation},
};
constexpr std::tuple gatheringFields{
    Field{"offset_dims", &GatherDimensionNumbersAttr::getOffsetDims},
    Field{"collapsed_slice_dims", &GatherDimensionNumbersAttr::getCollapsedSliceDims},
    Field{"operand_batching_dims", &GatherDimensionNumbersAttr::getOperandBatchingDims},
    Field{"start_indices_batching_dims", &GatherDimensionNumbersAttr::getStartIndicesBatchingDims},
    Field{"start_index_map", &GatherDimensionNumbersAttr::getStartIndexMap},
    Field{"index_vector_dim", &GatherDimensionNumbersAttr::getIndexVectorDim},
};
constexpr std::tuple scatterFields{
    Field{"update_window_dims", &ScatterDimensionNumbersAttr::getUpdateWindowDims},
    Field{"inserted_window_dims", &ScatterDimensionNumbersAttr::getInsertedWindowDims},
    Field{"input_batching_dims", &ScatterDimensionNumbersAttr::getInputBatchingDims},
    Field{"scatter_indices_batching_dims", &ScatterDimensionNumbersAttr::getScatterIndicesBatchingDims},
    Field{"scatter_dims_to_operand_dims", &ScatterDimensionNumbersAttr::getScatterDimsToOperandDims},
    Field{"index_vector_dim", &ScatterDimensionNumbersAttr::getIndexVectorDim},
};
constexpr std::tuple channelFields{
    Field{"channel_id", &ChannelHandleAttr::getHandle},
    Field{"channel_type", &ChannelHandleAttr::getType},
};
// Of collectives, whose channel's type follows from the op.
constexpr std::tuple channelIdFields{
    Field{"channel_id", &ChannelHandleAttr::getHandle},
};

/// An attribute of StableHLO that is spread: what its list of fields makes of it.
struct SpreadAttribute {
  std::string_view name;
  void (*spread)(Attribute attribute, Builder &builder, SpreadFields &fields);
  Attribute (*gather)(FieldSource &fields); ///< null if the op has none
  bool (*hasField)(std::string_view name);
};

template <const auto &list>
using OwnerOf = typename std::tuple_element_t<0, std::remove_cvref_t<decltype(list)>>::Owner;

/// An op that lacks the attribute has no fields of it; its verifier has refused it before.
template <const auto &list> void spreadAll(Attribute attribute, Builder &builder, SpreadFields &fields) {
  if (auto owner = dyn_cast_or_null<OwnerOf<list>>(attribute))
    std::apply(
        [&](const auto &...field) {
          (fields.push_back({field.name, portable(builder, (owner.*field.parameter)())}), ...);
        },
        list);
}

template <const auto &list> Attribute gatherAll(FieldSource &fields) {
  return std::apply(
      [&](const auto &...field) -> Attribute {
        std::tuple<typename std::remove_cvref_t<decltype(field)>::Kept...> values;
        std::apply([&](auto &...value) { (fields.take(field.name, value), ...); }, values);
        if (!fields.isValid)
          return {};
        Attribute made = std::apply(
            [&](const auto &...value) -> Attribute {
              using Owner = OwnerOf<list>;
              if constexpr (requires { Owner::verify(Refusal(fields.context), value...); })
                if (failed(Owner::verify(Refusal(fields.context), value...)))
                  return {};
              return Owner::get(fields.context, value...);
            },
            values);
        fields.isValid = static_cast<bool>(made);
        return made;
      },
      list);
}

template <const auto &list> bool listsField(std::string_view name) {
  return std::apply([&](const auto &...field) { return ((field.name == name) || ...); }, list);
}

template <const auto &list> constexpr SpreadAttribute spreadBy(std::string_view name) {
  return {name, spreadAll<list>, gatherAll<list>, listsField<list>};
}

/// Without an algorithm, each of its fields is the type none.
void spreadAlgorithm(Attribute attribute, Builder &builder, SpreadFields &fields) {
  if (attribute)
    return spreadAll<algorithmFields>(attribute, builder, fields);
  std::apply(
      [&](const auto &...field) {
        (fields.push_back({field.name, TypeAttr::get(builder.getNoneType())}), ...);
      },
      algorithmFields);
}

Attribute gatherAlgorithm(FieldSource &fields) {
  auto isAbsent = [&](std::string_view name) {
    Attribute field = fields.any(name);
    return !field || isNeutral(field);
  };
  bool hasNone =
      std::apply([&](const auto &...field) { return (isAbsent(field.name) && ...); }, algorithmFields);
  return hasNone ? Attribute() : gatherAll<algorithmFields>(fields);
}

/// Without a channel, the id is 0.
void spreadChannelId(Attribute attribute, Builder &builder, SpreadFields &fields) {
  auto channel = dyn_cast_or_null<ChannelHandleAttr>(attribute);
  fields.push_back({"channel_id", portable(builder, channel ? channel.getHandle() : 0)});
}

Attribute gatherChannelId(FieldSource &fields) {
  int64_t id = 0;
  fields.take("channel_id", id);
  return id == 0 ? Attribute() : ChannelHandleAttr::get(fields.context, id, /*type=*/0);
}

constexpr SpreadAttribute channelIdAttributes[] = {
    {"channel_handle", spreadChannelId, gatherChannelId, listsField<channelIdFields>}};
constexpr SpreadAttribute channelAttributes[] = {spreadBy<channelFields>("channel_handle")};
constexpr SpreadAttribute convolutionAttributes[] = {spreadBy<convolutionFields>("dimension_numbers")};
constexpr SpreadAttribute dotAttributes[] = {
    spreadBy<dotFields>("dot_dimension_numbers"),
    {"algorithm", spreadAlgorithm, gatherAlgorithm, listsField<algorithmFields>}};
constexpr SpreadAttribute gatherAttributes[] = {spreadBy<gatheringFields>("dimension_numbers")};
constexpr SpreadAttribute scatterAttributes[] = {spreadBy<scatterFields>("scatter_dimension_numbers")};

ArrayRef<SpreadAttribute> attributesOf(Spread spread) {
  switch (spread) {
  case Spread::None:
    return {};
  case Spread::Channel:
    return channelIdAttributes;
  case Spread::ChannelAndType:
    return channelAttributes;
  case Spread::ConvDimensions:
    return convolutionAttributes;
  case Spread::DotDimensions:
    return dotAttributes;
  case Spread::GatherDimensions:
    return gatherAttributes;
  case Spread::ScatterDimensions:
    return scatterAttributes;
  }
  return {};
}

} // namespace

bool isSpreadAttribute(Spread spread, std::string_view attribute) {
  return llvm::any_of(attributesOf(spread), [&](const auto &each) { return each.name == attribute; });
}

SpreadFields spreadFields(Spread spread, Operation &op) {
  SpreadFields fields;
  Builder builder(op.getContext());
  for (const SpreadAttribute &each : attributesOf(spread))
    each.spread(op.getInherentAttr(StringRef(each.name)).value_or(Attribute()), builder, fields);
  return fields;
}

bool gatherFields(Spread spread, MLIRContext *context, FieldLookup field,
                  SmallVectorImpl<NamedAttribute> &attributes) {
  FieldSource fields(context, field);
  for (const SpreadAttribute &each : attributesOf(spread))
    if (Attribute value = each.gather(fields))
      attributes.emplace_back(StringRef(each.name), value);
  return fields.isValid;
}

bool isNeutral(Attribute field) {
  if (auto type = dyn_cast<TypeAttr>(field))
    return isa<NoneType>(type.getValue());
  auto elements = dyn_cast<DenseElementsAttr>(field);
  return elements && elements.empty();
}

bool isSpreadField(Spread spread, std::string_view field) {
  return llvm::any_of(attributesOf(spread), [&](const auto &each) { return each.hasField(field); });
}

} // namespace torchere::vhlo
