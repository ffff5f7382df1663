// The rules, and the defaults of absent attributes.
#include "vhlo/attribute_rules.h"

#include "stablehlo/dialect.h"

#include <iterator>

using namespace mlir;

namespace torchere::vhlo {

static constexpr AttributeRule rules[] = {
    {"api_version", Form::ApiVersion, Fallback::OriginalApi},
    {"arg_attrs", Form::Same, Fallback::EmptyArray},
    {"backend_config", Form::Same, Fallback::EmptyConfig},
    {"base_dilations", Form::Dimensions, Fallback::Ones},
    {"broadcast_dimensions", Form::Dimensions},
    {"broadcast_sizes", Form::Dimensions},
    {"called_computations", Form::Symbols, Fallback::EmptyArray},
    {"callee", Form::Symbol},
    {"compare_type", Form::Same, Fallback::NoComparisonType},
    {"composite_attributes", Form::Same, Fallback::EmptyDictionary},
    {"decomposition", Form::Symbol},
    {"dimension", Form::Same, Fallback::MinusOne, "sort"},
    {"dimensions", Form::Dimensions},
    {"edge_padding_high", Form::Dimensions},
    {"edge_padding_low", Form::Dimensions},
    {"fft_length", Form::Dimensions},
    {"has_dynamic_root", Form::Flag, Fallback::False},
    {"has_side_effect", Form::Same, Fallback::False},
    {"indices_are_sorted", Form::Same, Fallback::False},
    {"infeed_config", Form::Same, Fallback::EmptyString},
    {"interior_padding", Form::Dimensions},
    {"is_host_transfer", Form::Same, Fallback::False},
    {"is_stable", Form::Same, Fallback::False},
    {"known_expanding_dimensions", Form::Dimensions, Fallback::NoDimensions},
    {"known_nonexpanding_dimensions", Form::Dimensions, Fallback::NoDimensions},
    {"layout", Form::Same, Fallback::EmptyArray},
    {"lhs_dilation", Form::Dimensions, Fallback::Ones},
    {"limit_indices", Form::Dimensions},
    {"lower", Form::Same, Fallback::False, "cholesky"},
    {"operand_layouts", Form::Same, Fallback::EmptyArray},
    {"outfeed_config", Form::Same, Fallback::EmptyString},
    {"output_operand_aliases", Form::Same, Fallback::EmptyArray},
    {"padding", Form::Same, Fallback::NoPadding},
    {"permutation", Form::Dimensions},
    {"precision_config", Form::Same, Fallback::DefaultPrecisions},
    {"res_attrs", Form::Same, Fallback::EmptyArray},
    {"result_accuracy", Form::Same, Fallback::DefaultAccuracy},
    {"result_layouts", Form::Same, Fallback::EmptyArray},
    {"result_tilings", Form::Same, Fallback::EmptyArray},
    {"rhs_dilation", Form::Dimensions, Fallback::Ones},
    {"slice_sizes", Form::Dimensions},
    {"source_target_pairs", Form::Same, Fallback::NoDimensions, "recv send"},
    {"start_indices", Form::Dimensions},
    {"strides", Form::Dimensions},
    {"sym_visibility", Form::Same, Fallback::EmptyString},
    {"unique_indices", Form::Same, Fallback::False},
    {"use_global_device_ids", Form::Flag, Fallback::False},
    {"version", Form::Same, Fallback::Zero},
    {"window_dilations", Form::Dimensions, Fallback::Ones},
    {"window_dimensions", Form::Dimensions},
    {"window_reversal", Form::Booleans, Fallback::NoReversal},
    {"window_strides", Form::Dimensions, Fallback::Ones},
};

static bool isAmong(std::string_view op, std::string_view ops) {
  while (!ops.empty()) {
    size_t end = std::min(ops.find(' '), ops.size());
    if (ops.substr(0, end) == op)
      return true;
    ops.remove_prefix(std::min(end + 1, ops.size()));
  }
  return false;
}

const AttributeRule &ruleOf(std::string_view op, std::string_view attribute) {
  static constexpr AttributeRule plain;
  auto found =
      std::lower_bound(std::begin(rules), std::end(rules), attribute,
                       [](const AttributeRule &rule, std::string_view name) { return rule.name < name; });
  bool holds =
      found != std::end(rules) && found->name == attribute && (found->ops.empty() || isAmong(op, found->ops));
  return holds ? *found : plain;
}

static Attribute splat(ArrayRef<int64_t> shape, Attribute element) {
  auto type = RankedTensorType::get(shape, cast<TypedAttr>(element).getType());
  return type.getNumElements() == 0 ? DenseElementsAttr::get(type, ArrayRef<Attribute>())
                                    : DenseElementsAttr::get(type, ArrayRef<Attribute>(element));
}

Attribute fallbackOf(Fallback fallback, const FallbackContext &context) {
  using namespace stablehlo;
  Builder builder(context.context);
  switch (fallback) {
  case Fallback::Required:
    return {};
  case Fallback::False:
    return builder.getBoolAttr(false);
  case Fallback::Zero:
    return builder.getI64IntegerAttr(0);
  case Fallback::MinusOne:
    return builder.getI64IntegerAttr(-1);
  case Fallback::EmptyString:
    return builder.getStringAttr("");
  case Fallback::EmptyArray:
    return builder.getArrayAttr({});
  case Fallback::EmptyDictionary:
    return builder.getDictionaryAttr({});
  case Fallback::EmptyConfig:
    return context.isTypedFfi ? Attribute(builder.getDictionaryAttr({})) : builder.getStringAttr("");
  case Fallback::NoDimensions:
    return builder.getI64TensorAttr({});
  case Fallback::Ones:
    return splat(context.windowRank, builder.getI64IntegerAttr(1));
  case Fallback::NoPadding:
    return splat({context.windowRank, 2}, builder.getI64IntegerAttr(0));
  case Fallback::NoReversal:
    return splat(context.windowRank, builder.getBoolAttr(false));
  case Fallback::NoComparisonType:
    return ComparisonTypeAttr::get(context.context, ComparisonType::NOTYPE);
  case Fallback::DefaultPrecisions:
    return builder.getArrayAttr(
        SmallVector<Attribute>(2, PrecisionAttr::get(context.context, Precision::DEFAULT)));
  case Fallback::DefaultAccuracy:
    return ResultAccuracyAttr::get(context.context, ResultAccuracyMode::DEFAULT);
  case Fallback::OriginalApi:
    return CustomCallApiVersionAttr::get(context.context, CustomCallApiVersion::API_VERSION_ORIGINAL);
  }
  return {};
}

bool isFallback(Attribute portable, Fallback fallback, const FallbackContext &context) {
  if (fallback == Fallback::Required)
    return false;
  bool isOfWindow =
      fallback == Fallback::Ones || fallback == Fallback::NoPadding || fallback == Fallback::NoReversal;
  if (isOfWindow && context.windowRank == 0)
    return false; // empty whether or not it was present: upstream keeps it
  if (fallback == Fallback::DefaultPrecisions) {
    // One default for each operand says as much as no attribute, however many there are.
    auto precisions = dyn_cast<ArrayAttr>(portable);
    auto plain = stablehlo::PrecisionAttr::get(context.context, stablehlo::Precision::DEFAULT);
    return precisions && llvm::all_of(precisions, [&](Attribute each) { return each == plain; });
  }
  return portable == fallbackOf(fallback, context);
}

} // namespace torchere::vhlo
