// Implements setProductPrecision.
#include "passes/precision/product_precision.h"

#include "passes/precision/products.h"
#include "stablehlo/module_implementation.h"

#include "llvm/ADT/TypeSwitch.h"

#include <optional>

using namespace mlir;

namespace torchere::passes {

bool hasDefaultPrecision(Operation *product) {
  auto config = product->getAttrOfType<ArrayAttr>("precision_config");
  return !config || llvm::all_of(config, [](Attribute each) {
    return cast<stablehlo::PrecisionAttr>(each).getValue() == stablehlo::Precision::DEFAULT;
  });
}

void setPrecision(ModuleOp module, stablehlo::Precision precision,
                  llvm::function_ref<bool(Operation *product)> isMeant) {
  auto each = stablehlo::PrecisionAttr::get(module.getContext(), precision);
  auto both = ArrayAttr::get(module.getContext(), {each, each});
  auto set = [&](auto product) {
    if constexpr (requires { product.getAlgorithm(); })
      if (product.getAlgorithm())
        return;
    if (isMeant(product))
      product.setPrecisionConfigAttr(both);
  };
  module.walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *, void>(op)
        .Case<stablehlo::DotOp, stablehlo::DotGeneralOp, stablehlo::ConvolutionOp, stablehlo::DynamicConvOp>(
            set);
  });
}

static std::optional<stablehlo::Precision> precisionOf(std::string_view name) {
  if (name == "default")
    return stablehlo::Precision::DEFAULT;
  if (name == "high")
    return stablehlo::Precision::HIGH;
  return name == "highest" ? std::optional(stablehlo::Precision::HIGHEST) : std::nullopt;
}

Status checkPrecision(std::string_view precision) {
  if (precisionOf(precision))
    return {};
  return invalidArgument("[precision] of products: got \"{}\", expected \"default\", \"high\" or \"highest\"",
                         precision);
}

Status setProductPrecision(stablehlo::Module &module, std::string_view precision) {
  TORCHERE_TRY(checkPrecision(precision));
  setPrecision(*module.implementation().module, *precisionOf(precision), [](Operation *) { return true; });
  return {};
}

} // namespace torchere::passes
