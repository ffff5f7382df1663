// The table of types without parts, and the first version that can hold each.
#include "vhlo/type_codes.h"

#include "vhlo/attribute_codes.h"

#include "stablehlo/dialect.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace torchere::vhlo {
namespace {

template <unsigned width> Type integer(MLIRContext *context) {
  return IntegerType::get(context, width);
}
template <unsigned width> Type unsignedInteger(MLIRContext *context) {
  return IntegerType::get(context, width, IntegerType::Unsigned);
}
template <class T> Type plain(MLIRContext *context) {
  return T::get(context);
}

constexpr ScalarType scalars[] = {
    {0, {0, 9, 0}, integer<1>},
    {2, {0, 9, 0}, plain<BFloat16Type>},
    {3, {0, 9, 0}, plain<Float16Type>},
    {4, {0, 9, 0}, plain<Float32Type>},
    {5, {0, 9, 0}, plain<Float64Type>},
    {6, {0, 9, 0}, plain<Float8E4M3FNType>},
    {7, {0, 9, 0}, plain<Float8E5M2Type>},
    {9, {0, 9, 0}, plain<IndexType>},
    {10, {0, 9, 0}, integer<4>},
    {11, {0, 9, 0}, integer<8>},
    {12, {0, 9, 0}, integer<16>},
    {13, {0, 9, 0}, integer<32>},
    {14, {0, 9, 0}, integer<64>},
    {15, {0, 9, 0}, unsignedInteger<4>},
    {16, {0, 9, 0}, unsignedInteger<8>},
    {17, {0, 9, 0}, unsignedInteger<16>},
    {18, {0, 9, 0}, unsignedInteger<32>},
    {19, {0, 9, 0}, unsignedInteger<64>},
    {22, {0, 9, 0}, plain<stablehlo::TokenType>},
    {27, {0, 10, 0}, plain<Float8E4M3FNUZType>},
    {28, {0, 10, 0}, plain<Float8E5M2FNUZType>},
    {29, {0, 11, 0}, plain<Float8E4M3B11FNUZType>},
    {31, {1, 2, 0}, integer<2>},
    {32, {1, 2, 0}, unsignedInteger<2>},
    {33, {1, 6, 0}, plain<NoneType>},
    {34, {1, 6, 0}, plain<FloatTF32Type>},
    {35, {1, 7, 0}, plain<Float8E4M3Type>},
    {36, {1, 7, 0}, plain<Float8E3M4Type>},
    {37, {1, 8, 0}, plain<Float4E2M1FNType>},
    {38, {1, 8, 0}, plain<Float6E2M3FNType>},
    {39, {1, 8, 0}, plain<Float6E3M2FNType>},
    {40, {1, 8, 0}, plain<Float8E8M0FNUType>},
};

Since sinceAll(TypeRange types, Version first) {
  Since since = first;
  for (Type type : types)
    since = latest(since, typeSince(type));
  return since;
}

Since sinceQuantized(quant::QuantizedType type, Version first) {
  return latest(first, latest(typeSince(type.getStorageType()), typeSince(type.getExpressedType())));
}

} // namespace

ArrayRef<ScalarType> scalarTypes() {
  return scalars;
}

bool isPortableShape(ArrayRef<int64_t> shape) {
  return llvm::all_of(shape, [](int64_t size) { return size >= 0 || ShapedType::isDynamic(size); });
}

Since typeSince(Type type) {
  return TypeSwitch<Type, Since>(type)
      .Case([](RankedTensorType tensor) {
        Since since = typeSince(tensor.getElementType());
        return tensor.getEncoding() ? latest(since, attributeSince(tensor.getEncoding())) : since;
      })
      .Case([](UnrankedTensorType tensor) { return typeSince(tensor.getElementType()); })
      .Case([](ComplexType complex) { return typeSince(complex.getElementType()); })
      .Case([](stablehlo::FutureType future) { return sinceAll(future.getTypes(), Version{1, 15, 0}); })
      .Case([](quant::UniformQuantizedType type) { return sinceQuantized(type, minimumVersion); })
      .Case([](quant::UniformQuantizedPerAxisType type) { return sinceQuantized(type, Version{0, 18, 0}); })
      .Case([](TupleType tuple) { return sinceAll(tuple.getTypes(), minimumVersion); })
      .Case([](FunctionType function) {
        return latest(sinceAll(function.getInputs(), minimumVersion),
                      sinceAll(function.getResults(), minimumVersion));
      })
      .Case([](MemRefType buffer) {
        bool isPlain = buffer.getLayout().isIdentity() && !buffer.getMemorySpace();
        return isPlain ? latest(typeSince(buffer.getElementType()), Version{1, 13, 0}) : Since();
      })
      .Default([](Type type) -> Since {
        for (const ScalarType &row : scalars)
          if (row.get(type.getContext()) == type)
            return row.since;
        return std::nullopt;
      });
}

} // namespace torchere::vhlo
