// Implements the checks of regions.
#include "stablehlo/region.h"

using namespace mlir;

namespace torchere::stablehlo {

TypeRange returnedTypes(Region &region) {
  if (region.empty() || region.front().empty())
    return {};
  auto terminator = dyn_cast<ReturnOp>(region.front().back());
  return terminator ? TypeRange(terminator.getOperandTypes()) : TypeRange();
}

SmallVector<Type> returnedElementTypes(RegionRange regions) {
  SmallVector<Type> types;
  if (!regions.empty())
    for (Type type : returnedTypes(*regions.front()))
      types.push_back(elementType(type));
  return types;
}

LogicalResult verifyRegion(const Reporter &reporter, StringRef constraint, StringRef name, Region &region,
                           TypeRange arguments, TypeRange results) {
  if (!areCompatible(region.getArgumentTypes(), arguments))
    return reporter.violation(constraint, name, " has the wrong arguments: got (", region.getArgumentTypes(),
                              "), expected (", arguments, ")");
  if (!areCompatible(returnedTypes(region), results))
    return reporter.violation(constraint, name, " has the wrong results: got (", returnedTypes(region),
                              "), expected (", results, ")");
  return success();
}

/// The common type of two compatible ones.
static Type joinTypes(Type left, Type right) {
  auto leftTensor = dyn_cast<RankedTensorType>(left), rightTensor = dyn_cast<RankedTensorType>(right);
  if (left == right || !leftTensor || !rightTensor)
    return left;
  SmallVector<int64_t> shape(leftTensor.getShape());
  for (auto [size, other] : llvm::zip(shape, rightTensor.getShape()))
    if (size != other)
      size = ShapedType::kDynamic;
  return leftTensor.clone(shape);
}

LogicalResult inferBranches(const Reporter &reporter, StringRef noArguments, StringRef sameResults,
                            RegionRange branches, SmallVectorImpl<Type> &types) {
  for (auto [index, branch] : llvm::enumerate(branches)) {
    if (branch->getNumArguments() != 0)
      return reporter.violation(noArguments, "branch ", index, " takes ", branch->getNumArguments(),
                                " arguments, expected none");
    TypeRange returned = returnedTypes(*branch);
    if (index == 0)
      llvm::append_range(types, returned);
    if (!areCompatible(returned, types))
      return reporter.violation(sameResults, "branch ", index, " returns (", returned,
                                "), branch 0 returns (", returnedTypes(*branches.front()), ")");
    for (auto [type, other] : llvm::zip(types, returned))
      type = joinTypes(type, other);
  }
  return success();
}

/// Whether values of type `from` promote to type `to`: the same kind, at least as wide.
static bool isPromotable(Type from, Type to) {
  if (from == to)
    return true;
  if (isFloat(from) && isFloat(to))
    return from.getIntOrFloatBitWidth() <= to.getIntOrFloatBitWidth();
  auto fromInteger = dyn_cast<IntegerType>(from), toInteger = dyn_cast<IntegerType>(to);
  if (fromInteger && toInteger)
    return fromInteger.getSignedness() == toInteger.getSignedness() &&
           fromInteger.getWidth() <= toInteger.getWidth();
  if (isQuantized(from) && isQuantized(to))
    return expressedType(from) == expressedType(to);
  auto fromComplex = dyn_cast<ComplexType>(from), toComplex = dyn_cast<ComplexType>(to);
  return fromComplex && toComplex && isPromotable(fromComplex.getElementType(), toComplex.getElementType());
}

LogicalResult verifyReducer(const Reporter &reporter, StringRef constraint, Region &region, ValueRange inputs,
                            StringRef name) {
  size_t count = inputs.size();
  if (region.getNumArguments() != 2 * count || returnedTypes(region).size() != count)
    return reporter.violation(constraint, name, " takes ", region.getNumArguments(),
                              " arguments and returns ", returnedTypes(region).size(), " values, expected ",
                              2 * count, " and ", count);
  for (size_t i = 0; i < count; ++i) {
    Type accumulator = returnedTypes(region)[i];
    Type element = elementType(inputs[i].getType());
    auto tensor = dyn_cast<RankedTensorType>(accumulator);
    if (!tensor || tensor.getRank() != 0 || !isPromotable(element, tensor.getElementType()))
      return reporter.violation(constraint, name, " returns ", accumulator, " for an input of element type ",
                                element, ", expected a scalar tensor of it or a wider one");
    for (size_t argument : {i, count + i})
      if (region.getArgument(argument).getType() != accumulator)
        return reporter.violation(constraint, name, " argument ", argument, " is ",
                                  region.getArgument(argument).getType(), ", expected ", accumulator);
  }
  return success();
}

} // namespace torchere::stablehlo
