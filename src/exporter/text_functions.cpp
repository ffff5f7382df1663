// TextFunctions: StableHLO that the user gives as text, as private functions of the module.
#include "exporter/text_functions.h"

#include "stablehlo/diagnostics.h"
#include "stablehlo/module.h"
#include "stablehlo/text_of.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Parser/Parser.h"

namespace torchere::exporter {

/// @main, or the only function.
static mlir::func::FuncOp entryOf(mlir::ModuleOp module) {
  if (auto main = module.lookupSymbol<mlir::func::FuncOp>("main"))
    return main;
  auto functions = module.getOps<mlir::func::FuncOp>();
  return llvm::hasSingleElement(functions) ? *functions.begin() : mlir::func::FuncOp();
}

Result<mlir::func::FuncOp> TextFunctions::import(const std::string &op, const std::string &text) {
  // Checked on its own first, with the limits on what anybody may have written.
  Result<stablehlo::Module> checked = stablehlo::Module::parse(text, op);
  if (!checked)
    return invalidArgument("[{}] the StableHLO given for the op is not valid: {}", op,
                           checked.error().message);
  mlir::ModuleOp target = names.target();
  stablehlo::DiagnosticText diagnostics(*target.getContext());
  auto parsed = mlir::parseSourceString<mlir::ModuleOp>(checked->text(), target.getContext());
  if (!parsed)
    return invalidArgument("[{}] the StableHLO given for the op is not valid: {}", op, diagnostics.take());
  mlir::func::FuncOp entry = entryOf(*parsed);
  if (!entry || entry.isDeclaration())
    return invalidArgument("[{}] the StableHLO given for the op: expected a function @main, or only one "
                           "function",
                           op);
  for (mlir::Operation &other : *parsed->getBody())
    if (!mlir::isa<mlir::func::FuncOp>(other))
      return invalidArgument("[{}] the StableHLO given for the op: got '{}' beside functions, expected "
                             "functions only",
                             op, other.getName().getStringRef().str());
  mlir::SymbolTable symbols(*parsed);
  std::string base = op.substr(0, op.rfind('.'));
  llvm::SmallVector<mlir::func::FuncOp> functions(parsed->getOps<mlir::func::FuncOp>());
  for (mlir::func::FuncOp function : functions) {
    bool isEntry = function == entry;
    std::string name =
        names.nextName(isEntry ? base : fmt::format("{}.{}", base, function.getSymName().str()));
    if (mlir::failed(symbols.rename(function, mlir::StringAttr::get(target.getContext(), name))))
      return invalidArgument("[{}] the StableHLO given for the op: '{}' cannot be renamed", op,
                             function.getSymName().str());
  }
  for (mlir::func::FuncOp function : functions) {
    function.setPrivate();
    function->remove();
    target.push_back(function);
  }
  return entry;
}

/// The first type that is not as expected.
static Status checkTypes(const std::string &op, std::string_view what, mlir::TypeRange got,
                         mlir::TypeRange expected) {
  if (got.size() != expected.size())
    return invalidArgument("[{}] the StableHLO given for the op: got {} {}s, expected {}", op, got.size(),
                           what, expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    if (got[i] != expected[i])
      return invalidArgument("[{}] the StableHLO given for the op: got {} {} of type {}, expected {}", op,
                             what, i, stablehlo::textOf(got[i]), stablehlo::textOf(expected[i]));
  return {};
}

Result<lowering::Values> TextFunctions::call(lowering::Context &cx, const std::string &op,
                                             const std::string &text, const lowering::Values &operands,
                                             const std::vector<lowering::TensorType> &results) {
  auto known = functions.find({op, text});
  if (known == functions.end()) {
    TORCHERE_ASSIGN(mlir::func::FuncOp function, import(op, text));
    known = functions.emplace(std::pair(op, text), function).first;
  }
  mlir::func::FuncOp function = known->second;
  llvm::SmallVector<mlir::Type> types;
  for (const lowering::TensorType &type : results)
    types.push_back(cx.tensorType(type.shape, type.dtype));
  TORCHERE_TRY(checkTypes(op, "operand", function.getArgumentTypes(), mlir::ValueRange(operands).getTypes()));
  TORCHERE_TRY(checkTypes(op, "result", function.getResultTypes(), types));
  auto call = mlir::func::CallOp::create(cx.builder(), cx.loc(), function, operands);
  lowering::Values values;
  for (auto [value, type] : llvm::zip(call.getResults(), results))
    values.push_back(cx.withShape(value, type.shape));
  return values;
}

Result<lowering::Values> TextFunctions::call(lowering::Context &cx,
                                             const std::vector<lowering::GivenArgument> &arguments,
                                             const std::vector<lowering::TensorType> &results) {
  const lowering::Argument::List *tensors = nullptr;
  const std::string *op = nullptr, *text = nullptr;
  for (const lowering::GivenArgument &argument : arguments) {
    if (argument.name == "args")
      tensors = argument.value.as<lowering::Argument::List>();
    (argument.name == "op" ? op : text) = argument.value.as<std::string>();
  }
  if (!tensors || !op || !text)
    return invalidArgument("[{}] arguments are missing: expected args, op and text", textOp);
  lowering::Values operands;
  for (const lowering::Argument &tensor : *tensors)
    if (const mlir::Value *value = tensor.as<mlir::Value>())
      operands.push_back(*value);
  return call(cx, *op, *text, operands, results);
}

} // namespace torchere::exporter
