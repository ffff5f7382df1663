// Args: binding given arguments to a schema, and the typed accessors.
#include "lowering/args.h"

#include <cstdio>
#include <cstdlib>

namespace torchere::lowering {

using schema::Schema;
using schema::Type;
using schema::TypeKind;

namespace {

std::string_view describe(const Argument &argument) {
  struct Describe {
    std::string_view operator()(std::monostate) { return "None"; }
    std::string_view operator()(mlir::Value) { return "a tensor"; }
    std::string_view operator()(const Dim &) { return "a number known only at run time"; }
    std::string_view operator()(int64_t) { return "an int"; }
    std::string_view operator()(double) { return "a float"; }
    std::string_view operator()(bool) { return "a bool"; }
    std::string_view operator()(const std::complex<double> &) { return "a complex number"; }
    std::string_view operator()(const std::string &) { return "a string"; }
    std::string_view operator()(DType) { return "a dtype"; }
    std::string_view operator()(const Opaque &) { return "a device, layout or memory format"; }
    std::string_view operator()(const Subgraph *) { return "a graph"; }
    std::string_view operator()(const Argument::List &) { return "a list"; }
  };
  return std::visit(Describe{}, argument.value);
}

std::string_view expectation(TypeKind kind) {
  switch (kind) {
  case TypeKind::Tensor:
    return "a tensor";
  case TypeKind::Int:
    return "a constant int";
  case TypeKind::SymInt:
    return "an int";
  case TypeKind::Float:
    return "a constant float";
  case TypeKind::Bool:
    return "a constant bool";
  case TypeKind::Scalar:
    return "a number";
  case TypeKind::String:
    return "a string";
  case TypeKind::ScalarType:
    return "a dtype";
  case TypeKind::Opaque:
    return "a device, layout, memory format or generator";
  case TypeKind::Graph:
    return "a graph";
  case TypeKind::Any:
    return "a value";
  case TypeKind::List:
    return "a list";
  case TypeKind::Other:
  case TypeKind::Optional:
  case TypeKind::Tuple:
  case TypeKind::Generic:
    return "what no lowering takes";
  }
  return "";
}

/// Constant Dims become ints, and numbers take the type that the schema asks for.
void normalize(Argument &argument, TypeKind kind) {
  if (const Dim *dim = argument.as<Dim>(); dim && dim->isConstant())
    argument.value = dim->constant();
  if (kind == TypeKind::Float)
    if (const int64_t *integer = argument.as<int64_t>())
      argument.value = static_cast<double>(*integer);
  constexpr int64_t numberOfI64 = 4; // among torch's dtypes: what its schemas print of the default int64
  if (const int64_t *number = argument.as<int64_t>();
      kind == TypeKind::ScalarType && number && *number == numberOfI64)
    argument.value = DType::I64;
  if (kind == TypeKind::Int || kind == TypeKind::SymInt)
    if (const bool *boolean = argument.as<bool>())
      argument.value = static_cast<int64_t>(*boolean);
}

bool isNumber(const Argument &argument) {
  return argument.as<int64_t>() || argument.as<double>() || argument.as<bool>() ||
         argument.as<std::complex<double>>() || argument.as<Dim>();
}

/// torch.fx leaves Python numbers where the schema says Tensor (`aten.add.Tensor(x, 1)`), and graph values
/// where it says Scalar.
bool accepts(TypeKind kind, const Argument &argument) {
  switch (kind) {
  case TypeKind::Tensor:
  case TypeKind::Scalar:
    return argument.as<mlir::Value>() || isNumber(argument);
  case TypeKind::Int:
    return argument.as<int64_t>();
  case TypeKind::SymInt:
    return argument.as<int64_t>() || argument.as<Dim>();
  case TypeKind::Float:
    return argument.as<double>();
  case TypeKind::Bool:
    return argument.as<bool>();
  case TypeKind::String:
    return argument.as<std::string>();
  case TypeKind::ScalarType:
    return argument.as<DType>();
  case TypeKind::Opaque:
    return argument.as<Opaque>() || argument.as<std::string>();
  case TypeKind::Graph:
    return argument.as<const Subgraph *>();
  case TypeKind::Any:
    return true;
  case TypeKind::List:
  case TypeKind::Other:
  case TypeKind::Optional:
  case TypeKind::Tuple:
  case TypeKind::Generic:
    return false;
  }
  return false;
}

Argument toArgument(const schema::DefaultValue &value) {
  struct Convert {
    Argument operator()(std::monostate) { return {}; }
    Argument operator()(int64_t number) { return {number}; }
    Argument operator()(double number) { return {number}; }
    Argument operator()(bool flag) { return {flag}; }
    Argument operator()(const std::string &text) { return {text}; }
    Argument operator()(const schema::NamedValue &named) {
      if (named.name == "Mean") // at::Reduction::Mean
        return {int64_t{1}};
      return {Opaque{named.name}}; // contiguous_format and its like
    }
    Argument operator()(const schema::DefaultValue::List &elements) {
      Argument::List list;
      for (const schema::DefaultValue &element : elements)
        list.push_back(toArgument(element));
      return {std::move(list)};
    }
  };
  return std::visit(Convert{}, value.value);
}

Status check(const Schema &schema, const schema::Argument &formal, Argument &argument) {
  auto mismatch = [&](const Argument &got, std::string_view expected) {
    if (got.as<Dim>())
      return fail(ErrorCode::Unimplemented,
                  "[{}] argument '{}' cannot change from call to call: got a number known only at run time, "
                  "expected {} (an int of the call that dynamic_shapes leaves out is one: export a program "
                  "for each value)",
                  schema.name, formal.name, expected);
    return invalidArgument("[{}] argument '{}' has the wrong type: got {}, expected {}", schema.name,
                           formal.name, describe(got), expected);
  };
  if (argument.isNone() && formal.type.isOptional())
    return {};
  const Type &type = formal.type.required();
  if (argument.isNone())
    return mismatch(argument, expectation(type.leaf().kind));
  if (type.kind != TypeKind::List) {
    normalize(argument, type.kind);
    if (accepts(type.kind, argument))
      return {};
    return mismatch(argument, expectation(type.kind));
  }
  if (!argument.as<Argument::List>()) // int[2] stride=1: a number stands for a list of one element
    argument = Argument{Argument::List{argument}};
  const Type &elementType = type.elements.front();
  TypeKind kind = elementType.required().kind;
  for (Argument &element : std::get<Argument::List>(argument.value)) {
    normalize(element, kind);
    if (!accepts(kind, element) && !(elementType.isOptional() && element.isNone()))
      return mismatch(element, fmt::format("a list of which each is {}", expectation(kind)));
  }
  return {};
}

} // namespace

Result<Args> Args::bind(const Schema &schema, std::vector<GivenArgument> given) {
  Args args;
  args.schema = &schema;
  args.values.resize(schema.arguments.size());
  std::vector<bool> isGiven(schema.arguments.size(), false);
  for (GivenArgument &argument : given) {
    if (argument.position >= schema.arguments.size()) {
      if (argument.value.isNone())
        continue; // an argument of a newer torch, left at its default
      return invalidArgument("[{}] unknown argument '{}': got {}, expected only the arguments of {}",
                             schema.name, argument.name, describe(argument.value), schema.source);
    }
    args.values[argument.position] = std::move(argument.value);
    isGiven[argument.position] = true;
  }
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const schema::Argument &formal = schema.arguments[i];
    if (!isGiven[i]) {
      if (!formal.defaultValue)
        return invalidArgument("[{}] missing argument '{}': expected {}", schema.name, formal.name,
                               expectation(formal.type.leaf().kind));
      args.values[i] = toArgument(*formal.defaultValue);
    }
    TORCHERE_TRY(check(schema, formal, args.values[i]));
  }
  return args;
}

void Args::abortOn(std::string_view name, std::string_view expected) const {
  std::string message =
      fmt::format("[{}] the lowering asks for '{}' as {}, which its schema does not say: {}\n", schema->name,
                  name, expected, schema->source);
  std::fputs(message.c_str(), stderr);
  std::abort();
}

bool Args::has(std::string_view name) const {
  return schema->position(name) < schema->arguments.size();
}

const Argument &Args::get(std::string_view name) const {
  size_t index = schema->position(name);
  if (index == values.size())
    abortOn(name, "an argument");
  return values[index];
}

mlir::Value Args::tensor(std::string_view name) const {
  if (const mlir::Value *value = get(name).as<mlir::Value>())
    return *value;
  abortOn(name, "a tensor");
}

std::optional<mlir::Value> Args::optionalTensor(std::string_view name) const {
  if (isNone(name))
    return std::nullopt;
  return tensor(name);
}

Values Args::tensors(std::string_view name) const {
  Values result = optionalTensors(name);
  for (mlir::Value value : result)
    if (!value)
      abortOn(name, "a list of tensors");
  return result;
}

Values Args::optionalTensors(std::string_view name) const {
  const Argument::List *list = get(name).as<Argument::List>();
  if (!list)
    abortOn(name, "a list of tensors");
  Values result;
  for (const Argument &element : *list) {
    const mlir::Value *value = element.as<mlir::Value>();
    result.push_back(value ? *value : mlir::Value());
  }
  return result;
}

int64_t Args::integer(std::string_view name) const {
  if (const int64_t *value = get(name).as<int64_t>())
    return *value;
  abortOn(name, "an int");
}

std::optional<int64_t> Args::optionalInteger(std::string_view name) const {
  if (isNone(name))
    return std::nullopt;
  return integer(name);
}

Integers Args::integers(std::string_view name) const {
  const Argument::List *list = get(name).as<Argument::List>();
  Integers result;
  if (get(name).isNone())
    return result;
  if (!list)
    abortOn(name, "a list of ints");
  for (const Argument &element : *list) {
    const int64_t *value = element.as<int64_t>();
    if (!value)
      abortOn(name, "a list of constant ints");
    result.push_back(*value);
  }
  return result;
}

Integers Args::integers(std::string_view name, size_t count) const {
  Integers result = integers(name);
  if (result.size() == 1 && count > 1)
    result.resize(count, result.front());
  return result;
}

Dim Args::dim(std::string_view name) const {
  const Argument &argument = get(name);
  if (const int64_t *value = argument.as<int64_t>())
    return Dim(*value);
  if (const Dim *value = argument.as<Dim>())
    return *value;
  abortOn(name, "a SymInt");
}

std::optional<Dim> Args::optionalDim(std::string_view name) const {
  if (isNone(name))
    return std::nullopt;
  return dim(name);
}

Dims Args::dims(std::string_view name) const {
  const Argument::List *list = get(name).as<Argument::List>();
  if (!list)
    abortOn(name, "a list of SymInts");
  Dims result;
  for (const Argument &element : *list) {
    if (const int64_t *value = element.as<int64_t>())
      result.push_back(Dim(*value));
    else if (const Dim *value = element.as<Dim>())
      result.push_back(*value);
    else
      abortOn(name, "a list of SymInts");
  }
  return result;
}

double Args::floating(std::string_view name) const {
  if (const double *value = get(name).as<double>())
    return *value;
  abortOn(name, "a float");
}

std::optional<double> Args::optionalFloating(std::string_view name) const {
  if (isNone(name))
    return std::nullopt;
  return floating(name);
}

bool Args::boolean(std::string_view name) const {
  if (const bool *value = get(name).as<bool>())
    return *value;
  abortOn(name, "a bool");
}

bool Args::isWanted(size_t gradient) const {
  return *list("output_mask")[gradient].as<bool>();
}

Scalar Args::scalar(std::string_view name) const {
  const Argument &argument = get(name);
  if (const bool *value = argument.as<bool>())
    return *value;
  if (const int64_t *value = argument.as<int64_t>())
    return *value;
  if (const double *value = argument.as<double>())
    return *value;
  if (const std::complex<double> *value = argument.as<std::complex<double>>())
    return *value;
  if (!argument.as<mlir::Value>())
    abortOn(name, "a number");
  problem = Error{ErrorCode::Unimplemented,
                  fmt::format("[{}] argument '{}' is known only at run time: expected a constant number",
                              schema->name, name),
                  {}};
  return int64_t{1};
}

void Args::rewriteNumbers(llvm::function_ref<void(TypeKind, Argument &)> replace) {
  for (size_t i = 0; i < values.size(); ++i) {
    TypeKind kind = schema->arguments[i].type.leaf().kind;
    if (kind != TypeKind::Tensor && kind != TypeKind::Scalar)
      continue;
    if (auto *list = std::get_if<Argument::List>(&values[i].value)) {
      for (Argument &element : *list)
        replace(kind, element);
    } else {
      replace(kind, values[i]);
    }
  }
}

std::optional<Scalar> Args::optionalScalar(std::string_view name) const {
  if (isNone(name))
    return std::nullopt;
  return scalar(name);
}

std::string Args::string(std::string_view name) const {
  if (const std::string *value = get(name).as<std::string>())
    return *value;
  abortOn(name, "a string");
}

std::optional<std::string> Args::optionalString(std::string_view name) const {
  if (isNone(name))
    return std::nullopt;
  return string(name);
}

std::optional<DType> Args::dtype(std::string_view name) const {
  if (isNone(name))
    return std::nullopt;
  if (const DType *value = get(name).as<DType>())
    return *value;
  abortOn(name, "a dtype");
}

const Subgraph &Args::graph(std::string_view name) const {
  if (const Subgraph *const *graph = get(name).as<const Subgraph *>())
    return **graph;
  abortOn(name, "a graph");
}

const Argument::List &Args::list(std::string_view name) const {
  if (const Argument::List *list = get(name).as<Argument::List>())
    return *list;
  abortOn(name, "a list");
}

double toDouble(const Scalar &scalar) {
  if (const double *value = std::get_if<double>(&scalar))
    return *value;
  if (const int64_t *value = std::get_if<int64_t>(&scalar))
    return static_cast<double>(*value);
  if (const bool *value = std::get_if<bool>(&scalar))
    return *value ? 1.0 : 0.0;
  return std::get<std::complex<double>>(scalar).real();
}

bool equals(const Scalar &scalar, double value) {
  if (const auto *complex = std::get_if<std::complex<double>>(&scalar))
    return *complex == value;
  return toDouble(scalar) == value;
}

int64_t toInteger(const Scalar &scalar) {
  if (const int64_t *value = std::get_if<int64_t>(&scalar))
    return *value;
  return static_cast<int64_t>(toDouble(scalar));
}

} // namespace torchere::lowering
