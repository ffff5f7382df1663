// To and from the portable form.
#include "vhlo/portable_form.h"

#include "vhlo/attribute_codes.h"

#include "stablehlo/dialect.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace torchere::vhlo {
namespace {

Attribute portableArray(ArrayAttr array) {
  SmallVector<Attribute> parts;
  for (Attribute part : array) {
    parts.push_back(portableForm(part));
    if (!parts.back())
      return {};
  }
  return ArrayAttr::get(array.getContext(), parts);
}

Attribute portableDictionary(DictionaryAttr dictionary) {
  SmallVector<NamedAttribute> entries;
  for (NamedAttribute entry : dictionary) {
    Attribute value = portableForm(entry.getValue());
    if (!value)
      return {};
    entries.emplace_back(entry.getName(), value);
  }
  return DictionaryAttr::getWithSorted(dictionary.getContext(), entries);
}

/// A resource whose bytes are loaded and as many as its type needs; bools are packed bits.
Attribute portableResource(DenseResourceElementsAttr resource) {
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  bool isSplat = false;
  if (!blob || !DenseElementsAttr::isValidRawBuffer(resource.getType(), blob->getData(), isSplat))
    return {};
  return resource;
}

} // namespace

Attribute portableForm(Attribute attribute) {
  return TypeSwitch<Attribute, Attribute>(attribute)
      .Case([](ArrayAttr array) { return portableArray(array); })
      .Case([](DictionaryAttr dictionary) { return portableDictionary(dictionary); })
      .Case([](FlatSymbolRefAttr symbol) {
        return StringAttr::get(symbol.getContext(), symbol.getValue()); // without the symbol's type
      })
      .Case([](StringAttr string) { return isa<NoneType>(string.getType()) ? string : Attribute(); })
      .Case([](DenseI64ArrayAttr array) {
        auto type = RankedTensorType::get(array.size(), IntegerType::get(array.getContext(), 64));
        return DenseElementsAttr::get(type, array.asArrayRef());
      })
      .Case([](DenseBoolArrayAttr array) {
        auto type = RankedTensorType::get(array.size(), IntegerType::get(array.getContext(), 1));
        return DenseElementsAttr::get(type, array.asArrayRef());
      })
      .Case([](DenseResourceElementsAttr resource) { return portableResource(resource); })
      .Default([](Attribute attribute) { return codeOf(attribute) ? attribute : Attribute(); });
}

static Attribute ownSymbols(Attribute portable) {
  auto array = dyn_cast<ArrayAttr>(portable);
  if (!array || !llvm::all_of(array, llvm::IsaPred<StringAttr>))
    return {};
  SmallVector<Attribute> symbols = llvm::map_to_vector(
      array, [](Attribute name) -> Attribute { return FlatSymbolRefAttr::get(cast<StringAttr>(name)); });
  return ArrayAttr::get(array.getContext(), symbols);
}

/// A tensor of one dimension, of integers of the width; null if it is another.
static DenseIntElementsAttr vectorOf(Attribute portable, unsigned width) {
  // A splat of a few bytes can claim any number of elements.
  constexpr int64_t maximumSplat = 256;
  auto elements = dyn_cast<DenseIntElementsAttr>(portable);
  bool fits = elements && elements.getType().getRank() == 1 &&
              (!elements.isSplat() || elements.getNumElements() <= maximumSplat) &&
              elements.getElementType().isSignlessInteger(width);
  return fits ? elements : DenseIntElementsAttr();
}

std::optional<SmallVector<int64_t>> dimensionsOf(Attribute portable) {
  if (auto elements = vectorOf(portable, 64))
    return llvm::to_vector(elements.getValues<int64_t>());
  return std::nullopt;
}

Attribute ownForm(Attribute portable, Form form) {
  MLIRContext *context = portable.getContext();
  switch (form) {
  case Form::Same:
    return portable;
  case Form::Dimensions:
    if (auto dimensions = dimensionsOf(portable))
      return DenseI64ArrayAttr::get(context, *dimensions);
    return {};
  case Form::Booleans:
    if (auto elements = vectorOf(portable, 1))
      return DenseBoolArrayAttr::get(context, llvm::to_vector(elements.getValues<bool>()));
    return {};
  case Form::Flag:
    // A false flag is the attribute's fallback, so that it never comes here.
    return portable == BoolAttr::get(context, true) ? UnitAttr::get(context) : Attribute();
  case Form::Symbol:
    if (auto name = dyn_cast<StringAttr>(portable))
      return FlatSymbolRefAttr::get(name);
    return {};
  case Form::Symbols:
    return ownSymbols(portable);
  case Form::ApiVersion:
    return isa<stablehlo::CustomCallApiVersionAttr>(portable) ? portable : Attribute();
  }
  return {};
}

} // namespace torchere::vhlo
