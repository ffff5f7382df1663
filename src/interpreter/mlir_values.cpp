// Implements the conversions between values and MLIR types.
#include "interpreter/mlir_values.h"

#include "stablehlo/element_type_conversion.h"

using namespace mlir;

namespace torchere::interpreter {

bool isOfType(const Value &value, Type type) {
  if (auto tuple = dyn_cast<TupleType>(type))
    return value.isTuple() && value.elements().size() == tuple.size() &&
           llvm::all_of(llvm::zip(value.elements(), tuple.getTypes()),
                        [](auto pair) { return isOfType(std::get<0>(pair), std::get<1>(pair)); });
  auto declared = dyn_cast<RankedTensorType>(type);
  if (!declared || !value.isTensor())
    return !declared && !value.isTensor(); // tokens and futures
  const Tensor &tensor = value.tensor();
  if (tensor.rank() != declared.getRank() ||
      stablehlo::storedTypeOf(declared.getElementType()) != tensor.type())
    return false;
  return llvm::all_of(llvm::zip_equal(tensor.shape(), declared.getShape()), [](auto sizes) {
    return ShapedType::isDynamic(std::get<1>(sizes)) || std::get<0>(sizes) == std::get<1>(sizes);
  });
}

std::string typeText(const Value &value) {
  return value.isTensor() ? value.tensor().typeText() : value.isTuple() ? "a tuple" : "a token";
}

std::string placeText(Location location) {
  std::string place;
  location->walk([&](Location part) {
    auto line = dyn_cast<FileLineColLoc>(part);
    if (!line)
      return WalkResult::advance();
    place = fmt::format("{}:{}:{}", line.getFilename().str(), line.getLine(), line.getColumn());
    return WalkResult::interrupt();
  });
  return place;
}

} // namespace torchere::interpreter
