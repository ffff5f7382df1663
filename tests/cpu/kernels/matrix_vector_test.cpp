// Products of matrices with a vector against plain loops.
#include "cpu/kernels/matrix_vector.h"
#include "test_values.h"

namespace torchere::cpu {
namespace {

class MatrixVectors : public EveryIsa {
protected:
  /// `T` is a's type, `X` b's, `Sum` the result's.
  template <class T, class X, class Sum> void compare(MatrixVectorArgs args, double tolerance) {
    std::vector<T> a = valuesOf<T>(args.batches * args.aBatchStride);
    std::vector<X> b = valuesOf<X>(args.batches * args.n * args.bStride);
    std::vector<Sum> c(args.batches * args.m);
    args.a = reinterpret_cast<const std::byte *>(a.data());
    args.b = reinterpret_cast<const std::byte *>(b.data());
    args.c = reinterpret_cast<std::byte *>(c.data());
    multiplyByVector(context, args);
    for (int64_t i = 0; i < args.batches * args.m; ++i) {
      int64_t batch = i / args.m;
      const T *row = a.data() + batch * args.aBatchStride + i % args.m * args.aRowStride;
      double sum = 0;
      for (int64_t j = 0; j < args.n; ++j)
        sum += double(row[j * args.aColumnStride]) * double(b[batch * args.bBatchStride + j * args.bStride]);
      ASSERT_NEAR(double(c[i]), sum, tolerance * double(args.n)) << args.n << " " << args.m << " " << i;
    }
  }

  template <class T> std::vector<T> valuesOf(int64_t count) {
    std::vector<T> values;
    for (float value : randomFloats(count))
      values.push_back(static_cast<T>(std::is_integral_v<T> ? value * 100 : value));
    return values;
  }

  template <class T, class X, class Sum> void compareAll(DType type, DType vectorType, double tolerance) {
    for (int64_t n : {1, 7, 33, 130})
      for (int64_t m : {1, 3, 65, 2200})
        for (int64_t batches : {1, 3})
          for (bool isAlong : {true, false}) {
            MatrixVectorArgs args{type, vectorType, batches, m, n};
            (isAlong ? args.aRowStride : args.aColumnStride) = (isAlong ? n : m) + 2;
            (isAlong ? args.aColumnStride : args.aRowStride) = 1;
            args.aBatchStride = (m + 2) * (n + 2);
            args.bStride = m % 2 == 0 ? 1 : 3;
            args.bBatchStride = n % 2 == 0 ? 0 : n * args.bStride;
            compare<T, X, Sum>(args, tolerance);
          }
  }
};

TEST_P(MatrixVectors, Floats) {
  compareAll<float, float, float>(DType::F32, DType::F32, 1e-6);
  compareAll<double, double, double>(DType::F64, DType::F64, 1e-14);
}

TEST_P(MatrixVectors, Integers) {
  compareAll<int32_t, int32_t, int32_t>(DType::I32, DType::I32, 0);
  compareAll<int64_t, int64_t, int64_t>(DType::I64, DType::I64, 0);
  compareAll<int8_t, int8_t, int32_t>(DType::I8, DType::I8, 0);
  compareAll<int8_t, uint8_t, int32_t>(DType::I8, DType::U8, 0);
  compareAll<uint8_t, int8_t, int32_t>(DType::U8, DType::I8, 0);
}

TORCHERE_EVERY_ISA(MatrixVectors);

} // namespace
} // namespace torchere::cpu
