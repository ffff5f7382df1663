// Context: what lowerings build with. Helpers choose the static or the dynamic op, so no lowering asks
// whether a shape is static.
#pragma once

#include "base/error.h"
#include "lowering/args.h"
#include "stablehlo/dialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"

#include <array>
#include <map>
#include <optional>
#include <type_traits>
#include <vector>

namespace torchere::lowering {

/// Provides the program's symbolic sizes as SSA values, each computed once at the function's entry.
class SymbolSource {
public:
  virtual ~SymbolSource() = default;
  /// The value of an expression as a 0-d i64 tensor.
  virtual mlir::Value valueOf(uint32_t expression) = 0;
  /// Sizes, constants or expressions, as a 1-d i64 tensor.
  virtual mlir::Value shapeOf(llvm::ArrayRef<Dim> dims) = 0;
};

/// Where random numbers come from: a stream of numbered blocks of 64 bits (lowering/random.h), of which every
/// op takes the next ones.
struct Generator {
  std::array<mlir::Value, 3> key; ///< 0-d ui32: the seed's halves, and the word that Threefry adds to them
  mlir::Value first;              ///< 0-d i64: the number of a block
  Dim taken = 0;                  ///< how many of those from there on ops have taken
  bool isUsed = false;            ///< whether any op has
};

/// Makes arguments of Python numbers, for exports that want them.
class NumberSource {
public:
  virtual ~NumberSource() = default;
  /// The argument that holds the number, a 0-d tensor with this value; null if it is to be a constant.
  virtual mlir::Value argumentFor(const Scalar &number, mlir::DenseElementsAttr value,
                                  mlir::OpBuilder &builder) = 0;
};

/// What one function's lowerings share: known sizes of values, numbers, and the generator.
struct FunctionState {
  llvm::DenseMap<mlir::Value, Dims> shapes;    ///< of values with a dynamic dimension
  llvm::DenseMap<mlir::Value, Scalar> numbers; ///< 0-d tensors made of Python numbers
  std::optional<Generator> generator = {};     ///< none where no random numbers can be drawn
  NumberSource *numberSource = nullptr;        ///< null where Python numbers are constants
};

/// Builds the body of a region, from its block arguments.
using RegionBody = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;

class Context {
public:
  Context(mlir::OpBuilder &builder, mlir::Location location, FunctionState &state, SymbolSource &symbols)
      : opBuilder(builder), location(location), state(state), symbols(symbols) {}

  mlir::OpBuilder &builder() { return opBuilder; }
  mlir::Location loc() const { return location; }

  // ---- the op being lowered (set by OpTable)
  void beginOp(std::string name, std::vector<TensorType> results);
  const std::string &opName() const { return op; }
  /// The program's type for result `index`.
  const TensorType &resultType(size_t index = 0) const { return results[index]; }
  size_t resultCount() const { return results.size(); }
  /// "[aten.x.default] <message>", as InvalidArgument or, for unsupported cases, Unimplemented.
  template <class... A> tl::unexpected<Error> unimplemented(fmt::format_string<A...> format, A &&...args) {
    return tl::unexpected<Error>(
        Error{ErrorCode::Unimplemented, "[" + op + "] " + fmt::format(format, std::forward<A>(args)...), {}});
  }
  template <class... A> tl::unexpected<Error> invalid(fmt::format_string<A...> format, A &&...args) {
    return tl::unexpected<Error>(Error{
        ErrorCode::InvalidArgument, "[" + op + "] " + fmt::format(format, std::forward<A>(args)...), {}});
  }

  // ---- types
  mlir::Type elementType(DType dtype);
  static mlir::Type elementType(mlir::Value value);
  static DType dtype(mlir::Value value);
  static int64_t rank(mlir::Value value);
  mlir::RankedTensorType tensorType(llvm::ArrayRef<Dim> shape, mlir::Type element);
  mlir::RankedTensorType tensorType(llvm::ArrayRef<Dim> shape, DType dtype);
  /// Counts negative dimensions from the end; `rank` 0 is treated as 1.
  Result<int64_t> axis(int64_t dim, int64_t rank);
  Result<Integers> axes(llvm::ArrayRef<int64_t> dims, int64_t rank);

  // ---- sizes
  Dims shape(mlir::Value value);
  Dim size(mlir::Value value, int64_t axis) { return shape(value)[axis]; }
  /// Records the sizes of a value that one of our ops created.
  mlir::Value withShape(mlir::Value value, llvm::ArrayRef<Dim> shape);
  Dim add(Dim a, Dim b);
  Dim subtract(Dim a, Dim b);
  Dim multiply(Dim a, Dim b);
  Dim floorDivide(Dim a, int64_t b);
  Dim minimum(Dim a, Dim b);
  Dim maximum(Dim a, Dim b);
  Dim product(llvm::ArrayRef<Dim> dims);
  /// The size as a 0-d tensor.
  mlir::Value sizeTensor(Dim dim, DType dtype = DType::I64);
  /// The number of elements along `axes` of the value, as a 0-d tensor.
  mlir::Value count(mlir::Value value, llvm::ArrayRef<int64_t> axes, DType dtype);
  /// The sizes as a 1-d i64 tensor.
  mlir::Value shapeTensor(llvm::ArrayRef<Dim> dims);

  /// Absent where no random numbers can be drawn.
  std::optional<Generator> &generator() { return state.generator; }

  // ---- constants
  /// A 0-d constant; floats are rounded to the dtype, integers wrap.
  mlir::Value constant(const Scalar &value, DType dtype);
  mlir::Value constant(const Scalar &value, mlir::Type element);
  mlir::Value full(const Scalar &value, DType dtype, llvm::ArrayRef<Dim> shape);
  /// A constant with the shape and element type of `other`.
  mlir::Value fullLike(const Scalar &value, mlir::Value other);
  /// A Python number as a 0-d tensor that promotion treats as a number.
  mlir::Value number(const Scalar &value);
  /// A Python number of the program in an element type: a constant, or an argument of the function.
  mlir::Value programNumber(const Scalar &value, mlir::Type element);
  /// The same with the shape and element type of `other`.
  mlir::Value programNumberLike(const Scalar &value, mlir::Value other);
  const Scalar *asNumber(mlir::Value value) const;
  /// The lowest (highest) value of an element type: -inf (inf) for floats.
  mlir::Value lowest(mlir::Type element);
  mlir::Value highest(mlir::Type element);

  // ---- ops
  /// An op with one result of the given type.
  template <class Op>
  mlir::Value create(mlir::Type type, mlir::ValueRange operands,
                     llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    return Op::create(opBuilder, location, mlir::TypeRange{type}, operands, attributes)->getResult(0);
  }
  /// An elementwise op: operands of one shape, result of the first operand's type.
  template <class Op> mlir::Value elementwise(mlir::ValueRange operands) {
    if constexpr (std::is_same_v<Op, stablehlo::MulOp>)
      if (mlir::Value factor = factorOfOne(operands))
        return factor;
    return withShape(create<Op>(operands.front().getType(), operands), shape(operands.front()));
  }
  mlir::Value convert(mlir::Value value, DType dtype);
  mlir::Value convert(mlir::Value value, mlir::Type element);
  /// i1 of the operands' shape; floats compare as in IEEE 754, integers by their signedness.
  mlir::Value compare(stablehlo::ComparisonDirection direction, mlir::Value lhs, mlir::Value rhs);
  mlir::Value select(mlir::Value predicate, mlir::Value onTrue, mlir::Value onFalse);
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<Dim> shape);
  mlir::Value broadcastInDim(mlir::Value value, llvm::ArrayRef<Dim> shape,
                             llvm::ArrayRef<int64_t> dimensions);
  /// Broadcasts as torch does: dimensions aligned at the end, size 1 stretched.
  mlir::Value broadcastTo(mlir::Value value, llvm::ArrayRef<Dim> shape);
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> permutation);
  mlir::Value slice(mlir::Value value, llvm::ArrayRef<Dim> starts, llvm::ArrayRef<Dim> limits,
                    llvm::ArrayRef<int64_t> strides);
  /// value[..., start:limit:stride, ...] on one axis.
  mlir::Value sliceAxis(mlir::Value value, int64_t axis, Dim start, Dim limit, int64_t stride = 1);
  mlir::Value pad(mlir::Value value, mlir::Value padding, llvm::ArrayRef<Dim> low, llvm::ArrayRef<Dim> high,
                  llvm::ArrayRef<int64_t> interior);
  mlir::Value concatenate(llvm::ArrayRef<mlir::Value> values, int64_t axis);
  mlir::Value iota(llvm::ArrayRef<Dim> shape, DType dtype, int64_t axis);
  /// Reduces `axes` away with `body(accumulator, element)`.
  mlir::Value reduce(mlir::Value value, mlir::Value initial, llvm::ArrayRef<int64_t> axes, RegionBody body);
  template <class Op>
  mlir::Value reduceWith(mlir::Value value, mlir::Value initial, llvm::ArrayRef<int64_t> axes) {
    return reduce(value, initial, axes,
                  [](mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange operands) -> mlir::Value {
                    return Op::create(builder, loc, mlir::TypeRange{operands[0].getType()}, operands,
                                      llvm::ArrayRef<mlir::NamedAttribute>{})
                        ->getResult(0);
                  });
  }
  /// `shape` without `axes`; with size 1 in their place when `keep`.
  Dims reducedShape(llvm::ArrayRef<Dim> shape, llvm::ArrayRef<int64_t> axes, bool keep);
  /// Repeats a value from which `axes` have been reduced away along them, to the shape of `like`.
  mlir::Value spread(mlir::Value reduced, mlir::Value like, llvm::ArrayRef<int64_t> axes);
  /// Batched matrix product: contracts axis `lhsAxis` with `rhsAxis`; the first `batch` axes of both are the
  /// batch. The result has the batch, the rest of lhs, the rest of rhs. Operands that are transposed, or
  /// repeated along the batch, are read in place.
  mlir::Value dotGeneral(mlir::Value lhs, mlir::Value rhs, int64_t batch, int64_t lhsAxis, int64_t rhsAxis);

  mlir::NamedAttribute attribute(llvm::StringRef name, mlir::Attribute value) {
    return opBuilder.getNamedAttr(name, value);
  }
  mlir::NamedAttribute integersAttribute(llvm::StringRef name, llvm::ArrayRef<int64_t> values) {
    return attribute(name, opBuilder.getDenseI64ArrayAttr(values));
  }

private:
  /// The other of two factors where one is the constant 1; null where neither is.
  static mlir::Value factorOfOne(mlir::ValueRange operands);
  mlir::Value groupedProduct(mlir::Value lhs, mlir::Value rhs, int64_t batch, int64_t lhsAxis,
                             int64_t rhsAxis);
  template <class Op> Dim arithmetic(Dim a, Dim b);

  mlir::OpBuilder &opBuilder;
  mlir::Location location;
  FunctionState &state;
  SymbolSource &symbols;
  std::string op;
  std::vector<TensorType> results;
};

/// 0, 1, ..., rank - 1.
Integers allAxes(mlir::Value value);

} // namespace torchere::lowering
