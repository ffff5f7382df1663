// Takes attributes apart and puts them together.
#include "vhlo/spread_attributes.h"

#include "vhlo/portable_form.h"

#include "stablehlo/dialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace torchere::vhlo {
namespace {

using namespace stablehlo;
using Dims = SmallVector<int64_t>;

constexpr std::string_view dotAlgorithmFields[] = {
    "lhs_precision_type",  "rhs_precision_type",       "accumulation_type",           "lhs_component_count",
    "rhs_component_count", "num_primitive_operations", "allow_imprecise_accumulation"};

/// Adds fields to a list.
class FieldList {
public:
  FieldList(MLIRContext *context, SpreadFields &fields) : builder(context), fields(fields) {}

  FieldList &dims(std::string_view name, ArrayRef<int64_t> dims) {
    return add(name, builder.getI64TensorAttr(dims));
  }
  FieldList &integer(std::string_view name, int64_t value) {
    return add(name, builder.getI64IntegerAttr(value));
  }
  FieldList &add(std::string_view name, Attribute value) {
    fields.push_back({name, value});
    return *this;
  }
  Builder builder;

private:
  SpreadFields &fields;
};

/// Takes fields out of an artifact; remembers if one was not what it must be.
class FieldSource {
public:
  explicit FieldSource(function_ref<Attribute(std::string_view)> field) : field(field) {}

  Dims dims(std::string_view name) {
    Attribute value = field(name);
    std::optional<Dims> dims = value ? dimensionsOf(value) : Dims();
    isValid = isValid && dims;
    return dims.value_or(Dims());
  }
  int64_t integer(std::string_view name) {
    auto value = dyn_cast_or_null<IntegerAttr>(field(name));
    bool fits = value && value.getType().isSignlessInteger(64);
    isValid = isValid && fits;
    return fits ? value.getInt() : 0;
  }
  bool boolean(std::string_view name) {
    auto value = dyn_cast_or_null<BoolAttr>(field(name));
    isValid = isValid && value;
    return value && value.getValue();
  }
  Type type(std::string_view name) {
    auto value = dyn_cast_or_null<TypeAttr>(field(name));
    isValid = isValid && value;
    return value ? value.getValue() : Type();
  }
  Attribute any(std::string_view name) { return field(name); }

  bool isValid = true;

private:
  function_ref<Attribute(std::string_view)> field;
};

// What follows comes in pairs: an attribute to its fields, and the fields to the attribute.

void spreadConvolution(FieldList &fields, ConvDimensionNumbersAttr numbers) {
  fields.integer("input_batch_dimension", numbers.getInputBatchDimension())
      .integer("input_feature_dimension", numbers.getInputFeatureDimension())
      .dims("input_spatial_dimensions", numbers.getInputSpatialDimensions())
      .integer("kernel_input_feature_dimension", numbers.getKernelInputFeatureDimension())
      .integer("kernel_output_feature_dimension", numbers.getKernelOutputFeatureDimension())
      .dims("kernel_spatial_dimensions", numbers.getKernelSpatialDimensions())
      .integer("output_batch_dimension", numbers.getOutputBatchDimension())
      .integer("output_feature_dimension", numbers.getOutputFeatureDimension())
      .dims("output_spatial_dimensions", numbers.getOutputSpatialDimensions());
}

Attribute gatherConvolution(MLIRContext *context, FieldSource &fields) {
  return ConvDimensionNumbersAttr::get(
      context, fields.integer("input_batch_dimension"), fields.integer("input_feature_dimension"),
      fields.dims("input_spatial_dimensions"), fields.integer("kernel_input_feature_dimension"),
      fields.integer("kernel_output_feature_dimension"), fields.dims("kernel_spatial_dimensions"),
      fields.integer("output_batch_dimension"), fields.integer("output_feature_dimension"),
      fields.dims("output_spatial_dimensions"));
}

void spreadDot(FieldList &fields, DotDimensionNumbersAttr numbers) {
  fields.dims("lhs_batching_dimensions", numbers.getLhsBatchingDimensions())
      .dims("rhs_batching_dimensions", numbers.getRhsBatchingDimensions())
      .dims("lhs_contracting_dimensions", numbers.getLhsContractingDimensions())
      .dims("rhs_contracting_dimensions", numbers.getRhsContractingDimensions());
}

Attribute gatherDot(MLIRContext *context, FieldSource &fields) {
  return DotDimensionNumbersAttr::get(
      context, fields.dims("lhs_batching_dimensions"), fields.dims("rhs_batching_dimensions"),
      fields.dims("lhs_contracting_dimensions"), fields.dims("rhs_contracting_dimensions"));
}

/// Without an algorithm, each of its fields is the type none.
void spreadAlgorithm(FieldList &fields, DotAlgorithmAttr algorithm) {
  if (!algorithm) {
    for (std::string_view name : dotAlgorithmFields)
      fields.add(name, TypeAttr::get(fields.builder.getNoneType()));
    return;
  }
  fields.add("lhs_precision_type", TypeAttr::get(algorithm.getLhsPrecisionType()))
      .add("rhs_precision_type", TypeAttr::get(algorithm.getRhsPrecisionType()))
      .add("accumulation_type", TypeAttr::get(algorithm.getAccumulationType()))
      .integer("lhs_component_count", algorithm.getLhsComponentCount())
      .integer("rhs_component_count", algorithm.getRhsComponentCount())
      .integer("num_primitive_operations", algorithm.getNumPrimitiveOperations())
      .add("allow_imprecise_accumulation",
           fields.builder.getBoolAttr(algorithm.getAllowImpreciseAccumulation()));
}

Attribute gatherAlgorithm(MLIRContext *context, FieldSource &fields) {
  if (llvm::all_of(dotAlgorithmFields, [&](std::string_view name) {
        Attribute field = fields.any(name);
        return !field || isNeutral(field);
      }))
    return {};
  Type lhs = fields.type("lhs_precision_type"), rhs = fields.type("rhs_precision_type"),
       accumulation = fields.type("accumulation_type");
  int64_t lhsComponents = fields.integer("lhs_component_count"),
          rhsComponents = fields.integer("rhs_component_count"),
          operations = fields.integer("num_primitive_operations");
  bool imprecise = fields.boolean("allow_imprecise_accumulation");
  return fields.isValid ? DotAlgorithmAttr::get(context, lhs, rhs, accumulation, lhsComponents, rhsComponents,
                                                operations, imprecise)
                        : Attribute();
}

void spreadGather(FieldList &fields, GatherDimensionNumbersAttr numbers) {
  fields.dims("offset_dims", numbers.getOffsetDims())
      .dims("collapsed_slice_dims", numbers.getCollapsedSliceDims())
      .dims("operand_batching_dims", numbers.getOperandBatchingDims())
      .dims("start_indices_batching_dims", numbers.getStartIndicesBatchingDims())
      .dims("start_index_map", numbers.getStartIndexMap())
      .integer("index_vector_dim", numbers.getIndexVectorDim());
}

Attribute gatherGather(MLIRContext *context, FieldSource &fields) {
  return GatherDimensionNumbersAttr::get(
      context, fields.dims("offset_dims"), fields.dims("collapsed_slice_dims"),
      fields.dims("operand_batching_dims"), fields.dims("start_indices_batching_dims"),
      fields.dims("start_index_map"), fields.integer("index_vector_dim"));
}

void spreadScatter(FieldList &fields, ScatterDimensionNumbersAttr numbers) {
  fields.dims("update_window_dims", numbers.getUpdateWindowDims())
      .dims("inserted_window_dims", numbers.getInsertedWindowDims())
      .dims("input_batching_dims", numbers.getInputBatchingDims())
      .dims("scatter_indices_batching_dims", numbers.getScatterIndicesBatchingDims())
      .dims("scatter_dims_to_operand_dims", numbers.getScatterDimsToOperandDims())
      .integer("index_vector_dim", numbers.getIndexVectorDim());
}

Attribute gatherScatter(MLIRContext *context, FieldSource &fields) {
  return ScatterDimensionNumbersAttr::get(
      context, fields.dims("update_window_dims"), fields.dims("inserted_window_dims"),
      fields.dims("input_batching_dims"), fields.dims("scatter_indices_batching_dims"),
      fields.dims("scatter_dims_to_operand_dims"), fields.integer("index_vector_dim"));
}

constexpr std::string_view channelAttributes[] = {"channel_handle"};
constexpr std::string_view dimensionAttributes[] = {"dimension_numbers"};
constexpr std::string_view dotAttributes[] = {"dot_dimension_numbers", "algorithm"};
constexpr std::string_view scatterAttributes[] = {"scatter_dimension_numbers"};

template <class T> T attributeOf(Operation &op, std::string_view name) {
  return dyn_cast_or_null<T>(op.getInherentAttr(StringRef(name)).value_or(Attribute()));
}

} // namespace

ArrayRef<std::string_view> spreadAttributes(Spread spread) {
  switch (spread) {
  case Spread::None:
    return {};
  case Spread::Channel:
  case Spread::ChannelAndType:
    return channelAttributes;
  case Spread::ConvDimensions:
  case Spread::GatherDimensions:
    return dimensionAttributes;
  case Spread::DotDimensions:
    return dotAttributes;
  case Spread::ScatterDimensions:
    return scatterAttributes;
  }
  return {};
}

SpreadFields spreadFields(Spread spread, Operation &op) {
  SpreadFields values;
  FieldList fields(op.getContext(), values);
  switch (spread) {
  case Spread::None:
  case Spread::Channel:
  case Spread::ChannelAndType:
    break;
  case Spread::ConvDimensions:
    if (auto numbers = attributeOf<ConvDimensionNumbersAttr>(op, "dimension_numbers"))
      spreadConvolution(fields, numbers);
    break;
  case Spread::DotDimensions:
    if (auto numbers = attributeOf<DotDimensionNumbersAttr>(op, "dot_dimension_numbers"))
      spreadDot(fields, numbers);
    spreadAlgorithm(fields, attributeOf<DotAlgorithmAttr>(op, "algorithm"));
    break;
  case Spread::GatherDimensions:
    if (auto numbers = attributeOf<GatherDimensionNumbersAttr>(op, "dimension_numbers"))
      spreadGather(fields, numbers);
    break;
  case Spread::ScatterDimensions:
    if (auto numbers = attributeOf<ScatterDimensionNumbersAttr>(op, "scatter_dimension_numbers"))
      spreadScatter(fields, numbers);
    break;
  }
  return values;
}

bool gatherFields(Spread spread, MLIRContext *context, function_ref<Attribute(std::string_view)> field,
                  SmallVectorImpl<NamedAttribute> &attributes) {
  FieldSource fields(field);
  auto add = [&](std::string_view name, Attribute value) {
    if (value)
      attributes.emplace_back(StringRef(name), value);
  };
  switch (spread) {
  case Spread::None:
  case Spread::Channel:
  case Spread::ChannelAndType:
    break;
  case Spread::ConvDimensions:
    add("dimension_numbers", gatherConvolution(context, fields));
    break;
  case Spread::DotDimensions:
    add("dot_dimension_numbers", gatherDot(context, fields));
    add("algorithm", gatherAlgorithm(context, fields));
    break;
  case Spread::GatherDimensions:
    add("dimension_numbers", gatherGather(context, fields));
    break;
  case Spread::ScatterDimensions:
    add("scatter_dimension_numbers", gatherScatter(context, fields));
    break;
  }
  return fields.isValid;
}

bool isNeutral(Attribute field) {
  if (auto type = dyn_cast<TypeAttr>(field))
    return isa<NoneType>(type.getValue());
  auto elements = dyn_cast<DenseElementsAttr>(field);
  return elements && elements.empty();
}

bool isSpreadField(Spread spread, std::string_view field) {
  static constexpr std::string_view convolution[] = {
      "input_batch_dimension",     "input_feature_dimension",        "input_spatial_dimensions",
      "kernel_spatial_dimensions", "kernel_input_feature_dimension", "kernel_output_feature_dimension",
      "output_batch_dimension",    "output_feature_dimension",       "output_spatial_dimensions"};
  static constexpr std::string_view gather[] = {"offset_dims",           "collapsed_slice_dims",
                                                "operand_batching_dims", "start_indices_batching_dims",
                                                "start_index_map",       "index_vector_dim"};
  static constexpr std::string_view scatter[] = {"update_window_dims",  "inserted_window_dims",
                                                 "input_batching_dims", "scatter_indices_batching_dims",
                                                 "index_vector_dim",    "scatter_dims_to_operand_dims"};
  switch (spread) {
  case Spread::None:
    return false;
  case Spread::Channel:
  case Spread::ChannelAndType:
    return field == "channel_id" || field == "channel_type";
  case Spread::ConvDimensions:
    return llvm::is_contained(convolution, field);
  case Spread::DotDimensions:
    return field.find("batching") != field.npos || field.find("contracting") != field.npos ||
           llvm::is_contained(dotAlgorithmFields, field);
  case Spread::GatherDimensions:
    return llvm::is_contained(gather, field);
  case Spread::ScatterDimensions:
    return llvm::is_contained(scatter, field);
  }
  return false;
}

} // namespace torchere::vhlo
