// Composites: ops of the program that are kept whole.
#include "exporter/composite.h"

#include "exporter/private_function.h"

namespace torchere::exporter {

using lowering::Argument;
using lowering::Dim;
using Row = lowering::OpTable::Row;

namespace {

/// "aten.softmax" of "aten.softmax.int".
std::string_view packetOf(const Row &row) {
  return std::string_view(row.schema.name).substr(0, row.schema.name.rfind('.'));
}

/// Whether a user selects the row's op by this name: all variants of an op, an op with or without its
/// namespace, or a single overload.
bool isMeant(const Row &row, std::string_view name) {
  std::string_view packet = packetOf(row);
  return !row.composite.empty() && (name == row.composite || name == packet ||
                                    name == packet.substr(packet.find('.') + 1) || name == row.schema.name);
}

} // namespace

Status checkComposites(const std::set<std::string> &names) {
  std::set<std::string> known;
  for (const auto &[op, row] : lowering::OpTable::instance().rows())
    if (!row.composite.empty())
      known.insert(row.composite);
  for (const std::string &name : names) {
    bool isKnown = false;
    for (const auto &[op, row] : lowering::OpTable::instance().rows())
      isKnown |= isMeant(row, name);
    if (!isKnown)
      return invalidArgument("[export] unknown composite: got '{}', expected some of {}", name,
                             fmt::join(known, ", "));
  }
  return {};
}

bool Composites::wants(const Row &row) const {
  return !names.empty() && llvm::any_of(names, [&](const std::string &name) { return isMeant(row, name); });
}

mlir::Operation *createComposite(lowering::Context &cx, const CompositeCall &call, mlir::ValueRange operands,
                                 mlir::TypeRange results) {
  mlir::OpBuilder &builder = cx.builder();
  mlir::OperationState operation(cx.loc(), stablehlo::CompositeOp::getOperationName());
  operation.addOperands(operands);
  operation.addTypes(results);
  operation.addAttribute("name", builder.getStringAttr(call.name));
  if (!call.attributes.empty())
    operation.addAttribute("composite_attributes", builder.getDictionaryAttr(call.attributes));
  operation.addAttribute("decomposition", mlir::FlatSymbolRefAttr::get(call.function));
  if (call.version != 0)
    operation.addAttribute("version", builder.getI32IntegerAttr(call.version));
  return builder.create(operation);
}

/// One call of an op, with its tensors separated from its other arguments.
struct Composites::Call {
  const Row &row;
  const std::vector<lowering::TensorType> &results;
  lowering::Values operands;
  std::vector<lowering::Dims> shapes;       ///< of the operands
  llvm::SmallVector<mlir::Attribute> names; ///< of the operands' arguments
  std::vector<lowering::GivenArgument> arguments;
  llvm::SmallVector<mlir::NamedAttribute> attributes;

  Call(const Row &row, const std::vector<lowering::TensorType> &results) : row(row), results(results) {}

  /// The next argument of the row's schema.
  void add(lowering::Context &cx, const std::string &name, const Argument &argument) {
    arguments.push_back({name, arguments.size(), argument});
    if (mlir::Attribute attribute = constant(cx.builder(), argument))
      attributes.push_back(cx.attribute(name, attribute));
    else
      forEachValue(argument, [&](mlir::Value operand) {
        operands.push_back(operand);
        shapes.push_back(cx.shape(operand));
        names.push_back(cx.builder().getStringAttr(name));
      });
  }

  /// Equal for calls that can share a function. Sizes are identified by the operand dimensions that equal
  /// them, if there are any.
  std::string key() const {
    std::string text = row.schema.name;
    llvm::raw_string_ostream stream(text);
    for (const mlir::NamedAttribute &attribute : attributes)
      stream << ' ' << attribute.getName() << '=' << attribute.getValue();
    std::map<uint32_t, size_t> places;
    bool isDerived = false;
    auto print = [&](const Dim &size, bool isOperand) {
      if (size.isConstant()) {
        stream << ' ' << size.constant();
      } else if (size.isComputed()) {
        stream << " ?";
      } else if (auto [place, isNew] = places.try_emplace(size.expressionId(), places.size());
                 !isNew || isOperand) {
        stream << " d" << place->second;
      } else {
        isDerived = true;
      }
    };
    for (auto [value, name, shape] : llvm::zip(operands, names, shapes)) {
      stream << '\n' << name << ' ' << value.getType();
      for (const Dim &size : shape)
        print(size, /*isOperand=*/true);
    }
    auto printArgument = [&](const Argument &argument, auto &&self) -> void {
      if (const Dim *size = argument.as<Dim>())
        print(*size, /*isOperand=*/false);
      if (const auto *list = argument.as<Argument::List>())
        for (const Argument &element : *list)
          self(element, self);
    };
    for (const lowering::GivenArgument &argument : arguments)
      printArgument(argument.value, printArgument);
    for (const lowering::TensorType &result : results) {
      stream << '\n' << dtypeInfo(result.dtype).shortName;
      for (const Dim &size : result.shape)
        print(size, /*isOperand=*/false);
    }
    if (isDerived) // computed from the symbols themselves
      for (const auto &[expression, place] : places)
        stream << " e" << expression << '=' << place;
    return text;
  }

private:
  /// Null for values that are not constants, and for None.
  static mlir::Attribute constant(mlir::OpBuilder &builder, const Argument &argument) {
    struct Convert {
      mlir::OpBuilder &builder;
      mlir::Attribute operator()(std::monostate) { return {}; }
      mlir::Attribute operator()(mlir::Value) { return {}; }
      mlir::Attribute operator()(const Dim &) { return {}; }
      mlir::Attribute operator()(int64_t value) { return builder.getI64IntegerAttr(value); }
      mlir::Attribute operator()(double value) { return builder.getF64FloatAttr(value); }
      mlir::Attribute operator()(bool value) { return builder.getBoolAttr(value); }
      mlir::Attribute operator()(const std::complex<double> &value) {
        return builder.getArrayAttr(
            {builder.getF64FloatAttr(value.real()), builder.getF64FloatAttr(value.imag())});
      }
      mlir::Attribute operator()(const std::string &value) { return builder.getStringAttr(value); }
      mlir::Attribute operator()(DType value) { return builder.getStringAttr(dtypeInfo(value).torchName); }
      mlir::Attribute operator()(const lowering::Opaque &value) { return builder.getStringAttr(value.text); }
      mlir::Attribute operator()(const lowering::Subgraph *) { return {}; }
      mlir::Attribute operator()(const Argument::List &list) {
        llvm::SmallVector<mlir::Attribute> elements;
        for (const Argument &element : list) {
          mlir::Attribute attribute = constant(builder, element);
          if (!attribute)
            return {};
          elements.push_back(attribute);
        }
        return builder.getArrayAttr(elements);
      }
    };
    return std::visit(Convert{builder}, argument.value);
  }
};

std::string Composites::nextName(const std::string &base) {
  size_t number = used[base]++;
  return number == 0 ? base : fmt::format("{}_{}", base, number);
}

std::string Composites::nextMarkedName(const std::string &composite) {
  std::string base = composite + ".impl";
  size_t number = used[base]++;
  return number == 0 ? base : fmt::format("{}_{}", base, number - 1);
}

Result<Composites::Function> Composites::build(const Call &call, lowering::Context &cx,
                                               SymbolTable &symbols) {
  mlir::TypeRange types = mlir::ValueRange(call.operands).getTypes();
  PrivateFunction function(module, nextName(std::string(packetOf(call.row))), cx.loc(), types, call.shapes,
                           symbols);
  size_t next = 0;
  std::vector<lowering::GivenArgument> arguments;
  for (const lowering::GivenArgument &argument : call.arguments)
    arguments.push_back(
        {argument.name, argument.position, withValues(argument.value, function.body().getArguments(), next)});
  lowering::Context inner(function.builder(), cx.loc(), function.state(), function.symbols());
  TORCHERE_ASSIGN(lowering::Values values,
                  lowering::OpTable::instance().lower(call.row, inner, std::move(arguments), call.results));
  Function result;
  lowering::Values returned;
  for (mlir::Value value : values) {
    result.isGiven.push_back(value != nullptr);
    if (value)
      returned.push_back(value);
  }
  function.finish(cx.loc(), returned);
  llvm::append_range(result.results, function.resultTypes());
  result.name = function.name();
  result.sizes = function.furtherSizes();
  return result;
}

Result<lowering::Values> Composites::lower(const Row &row, lowering::Context &cx, SymbolTable &symbols,
                                           std::vector<lowering::GivenArgument> arguments,
                                           const std::vector<lowering::TensorType> &results) {
  TORCHERE_ASSIGN(lowering::Args bound, lowering::Args::bind(row.schema, std::move(arguments)));
  Call call(row, results);
  for (const schema::Argument &formal : row.schema.arguments)
    call.add(cx, formal.name, bound.get(formal.name));
  std::string key = call.key();
  auto known = functions.find(key);
  if (known == functions.end()) {
    TORCHERE_ASSIGN(Function function, build(call, cx, symbols));
    known = functions.emplace(key, std::move(function)).first;
  }
  const Function &function = known->second;
  lowering::Values operands = call.operands;
  for (uint32_t expression : function.sizes)
    operands.push_back(symbols.numberOf(program::SymInt::expression(expression)));
  // Tensors may be omitted: the names tell which ones are present.
  call.attributes.push_back(cx.attribute("operands", cx.builder().getArrayAttr(call.names)));
  mlir::Operation *op =
      createComposite(cx, {packetOf(row), function.name, call.attributes, 1}, operands, function.results);
  lowering::Values values;
  auto result = op->result_begin();
  for (auto [isGiven, type] : llvm::zip(function.isGiven, results))
    values.push_back(isGiven ? cx.withShape(*result++, type.shape) : mlir::Value());
  return values;
}

} // namespace torchere::exporter
