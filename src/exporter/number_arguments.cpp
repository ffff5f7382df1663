// NumberArguments: the Python numbers of a program as arguments of its function.
#include "exporter/number_arguments.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

namespace torchere::exporter {

/// Whether ops are built in another function, which sees no argument of this one. A region whose op is still
/// to be made is in none, and counts as this one's.
static bool isInOtherFunction(mlir::Block &entry, mlir::OpBuilder &builder) {
  for (mlir::Operation *op = builder.getInsertionBlock()->getParentOp(); op; op = op->getParentOp())
    if (mlir::isa<mlir::func::FuncOp>(op))
      return op != entry.getParentOp();
  return false;
}

mlir::Value NumberArguments::argumentFor(const lowering::Scalar &number, mlir::DenseElementsAttr value,
                                         mlir::OpBuilder &builder) {
  using lowering::equals;
  bool isInlined = equals(number, 0.0) || equals(number, 1.0) || value.getElementType().isInteger(1);
  if (isInlined || isInOtherFunction(entry, builder))
    return {};
  auto [place, isNew] = known.try_emplace(value.getAsOpaquePointer());
  if (isNew)
    place->second = add(value, builder.getContext());
  return place->second;
}

/// A 0-d weight with memory of its own.
static program::Weight weightOf(std::string name, DType dtype, llvm::ArrayRef<char> bytes) {
  auto memory = std::make_shared<std::vector<std::byte>>(bytes.size());
  std::memcpy(memory->data(), bytes.data(), bytes.size());
  const std::byte *data = memory->data();
  return {std::move(name),
          dtype,
          {},
          {},
          0,
          std::make_shared<const program::Storage>(program::Storage{std::move(memory), data, bytes.size()})};
}

mlir::Value NumberArguments::add(mlir::DenseElementsAttr value, mlir::MLIRContext *context) {
  auto firstUser = std::find_if(plan.inputs.begin(), plan.inputs.end(), [](const PlannedInput &input) {
    return input.entry.source == program::InputSource::UserInput;
  });
  auto index = std::count_if(plan.inputs.begin(), firstUser,
                             [](const PlannedInput &input) { return !input.isInlined; });
  std::string name = fmt::format("number_{}", weights.size());
  mlir::Value argument = entry.insertArgument(static_cast<unsigned>(index), value.getType(),
                                              mlir::NameLoc::get(mlir::StringAttr::get(context, name)));
  DType dtype = lowering::Context::dtype(argument);
  PlannedInput input;
  input.entry.source = program::InputSource::Constant;
  input.entry.name = name;
  input.entry.type = {dtype, {}};
  input.weight = &weights.emplace_back(weightOf(std::move(name), dtype, value.getRawData()));
  plan.inputs.insert(firstUser, std::move(input));
  return argument;
}

} // namespace torchere::exporter
