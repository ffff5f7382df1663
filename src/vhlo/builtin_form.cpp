// The classes of attributes and types that builtin_decoding.cpp reads.
#include "vhlo/builtin_form.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace torchere::vhlo {
namespace {

constexpr unsigned maximumNumberWidth = 64;

bool isNumber(Type type) {
  return type.isIndex() || (type.isIntOrFloat() && type.getIntOrFloatBitWidth() > 0 &&
                            type.getIntOrFloatBitWidth() <= maximumNumberWidth);
}

bool hasOwnCode(Type type) {
  return TypeSwitch<Type, bool>(type)
      .Case<IntegerType, IndexType, BFloat16Type, Float16Type, Float32Type, Float64Type, ComplexType,
            NoneType, FunctionType, TupleType, UnrankedTensorType>([](auto) { return true; })
      .Case([](RankedTensorType tensor) { return !tensor.getEncoding(); })
      .Default([](Type) { return false; });
}

bool hasOwnCode(Attribute attribute) {
  return TypeSwitch<Attribute, bool>(attribute)
      .Case<ArrayAttr, DictionaryAttr, SymbolRefAttr, TypeAttr, UnitAttr, DenseArrayAttr, FileLineColRange,
            CallSiteLoc, FusedLoc, NameLoc, UnknownLoc>([](auto) { return true; })
      .Case([](StringAttr string) { return isa<NoneType>(string.getType()); })
      .Case<IntegerAttr, FloatAttr>([](auto number) { return isNumber(number.getType()); })
      .Case([](DenseIntOrFPElementsAttr elements) {
        Type element = elements.getElementType();
        return isNumber(isa<ComplexType>(element) ? cast<ComplexType>(element).getElementType() : element);
      })
      .Default([](Attribute) { return false; });
}

bool hasBuiltinForm(Type type);

template <class T> bool haveBuiltinForm(T whole) {
  bool have = hasOwnCode(whole);
  if (have)
    whole.walkImmediateSubElements([&](Attribute part) { have = have && vhlo::hasBuiltinForm(part); },
                                   [&](Type part) { have = have && hasBuiltinForm(part); });
  return have;
}

bool hasBuiltinForm(Type type) {
  return haveBuiltinForm(type);
}

} // namespace

bool hasBuiltinForm(Attribute attribute) {
  return haveBuiltinForm(attribute);
}

} // namespace torchere::vhlo
