// Products of matrices with a vector against plain loops.
#include "cpu/kernels/matrix_vector.h"
#include "test_values.h"

namespace torchere::cpu {
namespace {

class MatrixVectors : public EveryIsa {};

TEST_P(MatrixVectors, AnySizesAndStrides) {
  for (int64_t k : {1, 7, 8, 33, 500})
    for (int64_t m : {1, 3, 400})
      for (int64_t batches : {1, 5})
        for (bool isShared : {true, false})
          for (int64_t stride : {1, 3}) {
            MatrixVectorArgs args{batches, m, k};
            args.aRowStride = k + 2;
            args.aBatchStride = m * args.aRowStride;
            args.bStride = stride;
            args.bBatchStride = isShared ? 0 : k * stride;
            auto a = randomFloats(batches * args.aBatchStride), b = randomFloats(batches * k * stride);
            std::vector<float> c(batches * m);
            args.a = a.data();
            args.b = b.data();
            args.c = c.data();
            multiplyByVector(context, args);
            for (int64_t i = 0; i < batches * m; ++i) {
              int64_t batch = i / m;
              double sum = 0;
              for (int64_t j = 0; j < k; ++j)
                sum += double(a[batch * args.aBatchStride + i % m * args.aRowStride + j]) *
                       b[batch * args.bBatchStride + j * stride];
              ASSERT_NEAR(c[i], sum, 1e-6 * double(k)) << k << " " << m << " " << i;
            }
          }
}

TORCHERE_EVERY_ISA(MatrixVectors);

} // namespace
} // namespace torchere::cpu
