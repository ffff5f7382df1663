// The limits, one function each.
#include "vhlo/version_limits.h"

#include "stablehlo/dialect.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace torchere::vhlo {
namespace {

using Broken = std::optional<std::string>;

/// The element types of operands and results, pairwise as far as both go.
bool haveSameElementTypes(Operation &op) {
  return llvm::all_of(llvm::zip(op.getOperandTypes(), op.getResultTypes()), [](auto types) {
    return getElementTypeOrSelf(std::get<0>(types)) == getElementTypeOrSelf(std::get<1>(types));
  });
}

Broken elementTypes(Operation &op, const Version &target) {
  if (target >= Version{0, 17, 0} || haveSameElementTypes(op))
    return {};
  return "cannot promote the operands' element type in a reduction: that came with 0.17.0";
}

Broken operands(Operation &op, const OpVersion &version, const Version &target) {
  if (version.number == 1 && op.getNumOperands() != 1)
    return fmt::format("takes exactly one operand here: got {}, and more came with {}", op.getNumOperands(),
                       version.until->text());
  return elementTypes(op, target);
}

Broken regions(Operation &op, const OpVersion &version) {
  if (version.number > 1 || op.getNumRegions() == 0)
    return {};
  return fmt::format("takes no regions here: got {}, and they came with {}", op.getNumRegions(),
                     version.until->text());
}

Broken customCall(Operation &op, const Version &target) {
  using namespace stablehlo;
  if (target < Version{1, 17, 0} && llvm::any_of(op.getOperandTypes(), llvm::IsaPred<FutureType>))
    return "takes no futures here: they came with 1.17.0";
  auto attribute = [&](StringRef name) { return op.getInherentAttr(name).value_or(Attribute()); };
  if (target < Version{1, 3, 0}) {
    auto api = dyn_cast_or_null<CustomCallApiVersionAttr>(attribute("api_version"));
    if (api && api.getValue() == CustomCallApiVersion::API_VERSION_TYPED_FFI)
      return "has no API_VERSION_TYPED_FFI: it came with 1.3.0";
    if (isa_and_nonnull<DictionaryAttr>(attribute("backend_config")))
      return "takes a string as backend_config: a dictionary came with 1.3.0";
  }
  return {};
}

bool isFloat8(Type type) {
  return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8;
}

Broken float8Operands(Operation &op, const Version &target) {
  if (target >= Version{1, 20, 0} || op.getNumOperands() < 2)
    return {};
  Type lhs = getElementTypeOrSelf(op.getOperand(0)), rhs = getElementTypeOrSelf(op.getOperand(1));
  if (lhs == rhs || !isFloat8(lhs) || !isFloat8(rhs))
    return {};
  return "takes 8-bit floats of one type: two types came with 1.20.0";
}

} // namespace

Broken brokenLimit(Operation &op, const OpVersion &version, const Version &target) {
  switch (version.row->limit) {
  case Limit::None:
    return {};
  case Limit::OneOperandInV1:
    return operands(op, version, target);
  case Limit::NoRegionsInV1:
    return regions(op, version);
  case Limit::SameElementTypes:
    return elementTypes(op, target);
  case Limit::CustomCallConfig:
    return customCall(op, target);
  case Limit::MixedFloat8Operands:
    return float8Operands(op, target);
  }
  return {};
}

} // namespace torchere::vhlo
