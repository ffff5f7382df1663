// Implements access to ops' attributes and types.
#include "interpreter/call.h"

#include "interpreter/evaluator.h"
#include "stablehlo/element_type_conversion.h"
#include "stablehlo/element_types.h"
#include "stablehlo/text_of.h"

using namespace mlir;

namespace torchere::interpreter {

Result<Values> Call::run(Region &region, Values arguments) const {
  return runner.runRegion(region, std::move(arguments), &scope);
}

int64_t Call::integer(llvm::StringRef name) const {
  return cast<IntegerAttr>(op->getAttr(name)).getValue().getSExtValue();
}

bool Call::flag(llvm::StringRef name) const {
  auto value = attribute<BoolAttr>(name);
  return value && value.getValue();
}

std::string Call::string(llvm::StringRef name) const {
  auto value = attribute<StringAttr>(name);
  return value ? value.str() : "";
}

Index Call::integers(llvm::StringRef name) const {
  Index values;
  mlir::Attribute list = op->getAttr(name);
  if (auto array = dyn_cast_or_null<DenseI64ArrayAttr>(list))
    llvm::append_range(values, array.asArrayRef());
  else if (auto bools = dyn_cast_or_null<DenseBoolArrayAttr>(list))
    llvm::append_range(values, bools.asArrayRef());
  else if (auto tensor = dyn_cast_or_null<DenseIntElementsAttr>(list))
    for (const llvm::APInt &value : tensor.getValues<llvm::APInt>())
      values.push_back(value.getSExtValue());
  return values;
}

Index Call::integers(llvm::StringRef name, size_t count, int64_t value) const {
  return op->getAttr(name) ? integers(name) : Index(count, value);
}

Result<ElementType> Call::resultType(size_t index) const {
  Type type = cast<ShapedType>(op->getResult(index).getType()).getElementType();
  std::optional<ElementType> element =
      stablehlo::storedTypeOf(onNumbers ? stablehlo::expressedType(type) : type);
  if (!element)
    return fail(ErrorCode::Unimplemented, "elements of type {} cannot be interpreted",
                stablehlo::textOf(type));
  return *element;
}

Result<Index> Call::resultShape(size_t index) const {
  auto type = cast<ShapedType>(op->getResult(index).getType());
  if (!type.hasStaticShape())
    return fail(ErrorCode::Unimplemented, "a result of unknown size cannot be interpreted: got {}",
                stablehlo::textOf(type));
  return Index(type.getShape());
}

Result<Values> oneResult(Result<Tensor> result) {
  TORCHERE_ASSIGN(Tensor tensor, std::move(result));
  return Values{std::move(tensor)};
}

Result<Values> passOn(const Call &call) {
  return call.values();
}

} // namespace torchere::interpreter
