// Args: the arguments of one call of an op, by their names in its schema, with the schema's defaults filled
// in.
#pragma once

#include "lowering/value.h"
#include "schema/schema.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <string>
#include <string_view>

namespace torchere::lowering {

/// Every accessor takes a name in the schema. bind() has checked that the value has the schema's type, so an
/// accessor of that type always succeeds. Asking for a name or a type that the schema does not have is a
/// programming error and aborts with the names of the op and the argument.
class Args {
public:
  /// Checks given arguments against the schema. The error names the argument: one that the row does not know,
  /// one that is missing, one of another type ("got a tensor, expected a constant int").
  static Result<Args> bind(const schema::Schema &schema, std::vector<GivenArgument> given);

  bool isNone(std::string_view name) const { return get(name).isNone(); }

  mlir::Value tensor(std::string_view name) const;
  std::optional<mlir::Value> optionalTensor(std::string_view name) const;
  Values tensors(std::string_view name) const;
  /// Tensor?[]: null values for None.
  Values optionalTensors(std::string_view name) const;

  int64_t integer(std::string_view name) const;
  std::optional<int64_t> optionalInteger(std::string_view name) const;
  Integers integers(std::string_view name) const;
  /// A list of `count` ints; a list of one element is repeated (aten's int[2] stride=1).
  Integers integers(std::string_view name, size_t count) const;

  Dim dim(std::string_view name) const;
  std::optional<Dim> optionalDim(std::string_view name) const;
  Dims dims(std::string_view name) const;

  double floating(std::string_view name) const;
  std::optional<double> optionalFloating(std::string_view name) const;
  bool boolean(std::string_view name) const;
  /// A constant number. If it is known only at run time, stores the error in failure(), which OpTable
  /// reports, and returns 1.
  Scalar scalar(std::string_view name) const;
  std::optional<Scalar> optionalScalar(std::string_view name) const;
  std::string string(std::string_view name) const;
  std::optional<std::string> optionalString(std::string_view name) const;
  std::optional<DType> dtype(std::string_view name) const;

  const Subgraph &graph(std::string_view name) const;
  /// Any[]: the elements as given.
  const Argument::List &list(std::string_view name) const;

  /// Whether `output_mask` asks for that one of several gradients.
  bool isWanted(size_t gradient) const;

  bool has(std::string_view name) const;
  /// Whether the argument is a tensor (a Scalar may be given as a 0-d tensor of the graph).
  bool isTensor(std::string_view name) const { return get(name).as<mlir::Value>() != nullptr; }
  /// The argument as given, for rules that take arguments of any kind (dtype promotion).
  const Argument &get(std::string_view name) const;
  /// Calls `replace` on every argument (and list element) for which the schema wants a tensor or a number.
  void rewriteNumbers(llvm::function_ref<void(schema::TypeKind, Argument &)> replace);
  const std::optional<Error> &failure() const { return problem; }

private:
  [[noreturn]] void abortOn(std::string_view name, std::string_view expected) const;

  const schema::Schema *schema = nullptr;
  std::vector<Argument> values;
  mutable std::optional<Error> problem;
};

double toDouble(const Scalar &scalar);
int64_t toInteger(const Scalar &scalar);
/// Whether the scalar, whatever its type, equals this real number.
bool equals(const Scalar &scalar, double value);

} // namespace torchere::lowering
