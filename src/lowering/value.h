// The values that lowerings take and return: tensors (SSA values), sizes, scalars and lists of them.
#pragma once

#include "base/dtype.h"
#include "base/error.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <complex>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace torchere::lowering {

/// A size: a constant, an expression over the program's symbols, or a 0-d i64 tensor computed in the
/// function. Lowerings compute with it through Context and never ask which one it is.
class Dim {
public:
  Dim() = default;
  Dim(int64_t constant) : number(constant) {}
  static Dim expression(uint32_t id) {
    Dim dim;
    dim.kind = Kind::Expression;
    dim.number = id;
    return dim;
  }
  static Dim computed(mlir::Value value) {
    Dim dim;
    dim.kind = Kind::Computed;
    dim.ssa = value;
    return dim;
  }

  bool isConstant() const { return kind == Kind::Constant; }
  bool isExpression() const { return kind == Kind::Expression; }
  bool isComputed() const { return kind == Kind::Computed; }
  bool is(int64_t constant) const { return isConstant() && number == constant; }
  int64_t constant() const { return number; }
  uint32_t expressionId() const { return static_cast<uint32_t>(number); }
  mlir::Value value() const { return ssa; }
  bool operator==(const Dim &) const = default;

private:
  enum class Kind : uint8_t { Constant, Expression, Computed };
  Kind kind = Kind::Constant;
  int64_t number = 0;
  mlir::Value ssa;
};

using Dims = llvm::SmallVector<Dim, 6>;
using Integers = llvm::SmallVector<int64_t, 6>;
using Values = llvm::SmallVector<mlir::Value, 4>;

/// A Python number given to an op.
using Scalar = std::variant<bool, int64_t, double, std::complex<double>>;

/// The type of a tensor of the program: torch's dtype and the sizes.
struct TensorType {
  DType dtype = DType::F32;
  Dims shape;
};

/// A device, layout, memory format or generator: accepted where the schema has one, and ignored.
struct Opaque {
  std::string text;
};

class Context;
struct Argument;

/// A graph of the program as an argument of an op: a branch, the body of a loop. Only the code that lowers
/// the program knows its contents.
class Subgraph {
public:
  virtual ~Subgraph() = default;
  /// The program's name for it: "true_graph_0".
  virtual const std::string &name() const = 0;
  /// Emits the graph at the insertion point of `cx`, with these values as its inputs, and returns its
  /// outputs. The emitted ops may use every value that is visible there.
  virtual Result<std::vector<Argument>> emit(Context &cx, std::vector<Argument> inputs) const = 0;
};

/// One argument of an op, as the program passes it.
struct Argument {
  using List = std::vector<Argument>;
  std::variant<std::monostate, mlir::Value, Dim, int64_t, double, bool, std::complex<double>, std::string,
               DType, Opaque, const Subgraph *, List>
      value;

  bool isNone() const { return std::holds_alternative<std::monostate>(value); }
  template <class T> const T *as() const { return std::get_if<T>(&value); }
};

struct GivenArgument {
  std::string_view name; ///< as the program's op calls it
  size_t position = 0;   ///< in the row's schema; beyond its arguments when the row does not know it
  Argument value;
};

} // namespace torchere::lowering
