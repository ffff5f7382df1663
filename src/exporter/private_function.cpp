// PrivateFunction: the function of a composite while it is made.
#include "exporter/private_function.h"

namespace torchere::exporter {

using lowering::Argument;
using lowering::Dim;

void forEachValue(const Argument &argument, llvm::function_ref<void(mlir::Value)> visit) {
  if (const mlir::Value *value = argument.as<mlir::Value>())
    visit(*value);
  if (const Dim *size = argument.as<Dim>(); size && size->isComputed())
    visit(size->value());
  if (const auto *list = argument.as<Argument::List>())
    for (const Argument &element : *list)
      forEachValue(element, visit);
}

Argument withValues(const Argument &argument, mlir::ValueRange values, size_t &next) {
  if (argument.as<mlir::Value>())
    return {values[next++]};
  if (const Dim *size = argument.as<Dim>(); size && size->isComputed())
    return {Dim::computed(values[next++])};
  const auto *list = argument.as<Argument::List>();
  if (!list)
    return argument;
  Argument::List elements;
  for (const Argument &element : *list)
    elements.push_back(withValues(element, values, next));
  return {std::move(elements)};
}

mlir::func::FuncOp PrivateFunction::create(mlir::ModuleOp module, const std::string &name,
                                           mlir::Location location, mlir::TypeRange operands) {
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(module.getBody());
  auto function = mlir::func::FuncOp::create(builder, location, name, builder.getFunctionType(operands, {}));
  function.setPrivate();
  function.addEntryBlock();
  return function;
}

PrivateFunction::PrivateFunction(mlir::ModuleOp module, const std::string &name, mlir::Location location,
                                 mlir::TypeRange operands, const std::vector<lowering::Dims> &shapes,
                                 SymbolTable &outer)
    : function(create(module, name, location, operands)),
      bodyBuilder(mlir::OpBuilder::atBlockEnd(&function.getBody().front())),
      sizes(outer, function.getBody().front(), location) {
  for (auto [value, shape] : llvm::zip(body().getArguments(), shapes)) {
    if (llvm::any_of(shape, [](const Dim &size) { return size.isComputed(); }))
      continue;
    functionState.shapes[value] = shape;
    for (auto [axis, size] : llvm::enumerate(shape))
      if (size.isExpression())
        sizes.defineWhole(program::SymInt::expression(size.expressionId()), value,
                          static_cast<int64_t>(axis));
  }
}

void PrivateFunction::eraseArgument(mlir::Value argument) {
  (void)function.eraseArgument(mlir::cast<mlir::BlockArgument>(argument).getArgNumber());
}

void PrivateFunction::finish(mlir::Location location, mlir::ValueRange results) {
  mlir::func::ReturnOp::create(bodyBuilder, location, results);
  function.setType(bodyBuilder.getFunctionType(body().getArgumentTypes(), results.getTypes()));
}

} // namespace torchere::exporter
