// How the attributes of StableHLO's ops map to those of the artifact: their form, and the default for an
// attribute that the op does not have (the artifact has no optional ones).
#pragma once

#include "mlir/IR/Attributes.h"

#include <cstdint>
#include <string_view>

namespace torchere::vhlo {

/// StableHLO's class of an attribute that the artifact has in portable form.
enum class Form : uint8_t {
  Same,
  Dimensions, ///< DenseI64ArrayAttr, a tensor of i64 in the artifact
  Booleans,   ///< DenseBoolArrayAttr, a tensor of i1
  Flag,       ///< UnitAttr, a bool
  Symbol,     ///< FlatSymbolRefAttr, a string
  Symbols,    ///< an array of them, an array of strings
  ApiVersion, ///< CustomCallApiVersionAttr, an enumeration
};

/// What the artifact holds for an attribute that the op does not have.
enum class Fallback : uint8_t {
  Required,
  False,
  Zero,
  MinusOne,
  EmptyString,
  EmptyArray,
  EmptyDictionary,
  EmptyConfig,  ///< an empty string, or dictionary for the typed FFI
  NoDimensions, ///< tensor<0xi64>
  Ones,         ///< 1 for each dimension of the window
  NoPadding,    ///< [0, 0] for each dimension of the window
  NoReversal,   ///< false for each dimension of the window
  NoComparisonType,
  DefaultPrecisions,
  DefaultAccuracy,
  OriginalApi,
};

struct AttributeRule {
  std::string_view name;
  Form form = Form::Same;
  Fallback fallback = Fallback::Required;
  std::string_view ops = {}; ///< the ops for which the rule holds, divided by spaces; all if empty
};

/// The rule of an op's attribute; the plain one if there is no other.
const AttributeRule &ruleOf(std::string_view op, std::string_view attribute);

/// What a fallback depends on besides the op's name.
struct FallbackContext {
  mlir::MLIRContext *context;
  int64_t windowRank = 0;
  bool isTypedFfi = false;
};

/// The attribute, in portable form; null for Required.
mlir::Attribute fallbackOf(Fallback fallback, const FallbackContext &context);
/// Whether `portable` is equivalent to the absence of the attribute.
bool isFallback(mlir::Attribute portable, Fallback fallback, const FallbackContext &context);

} // namespace torchere::vhlo
