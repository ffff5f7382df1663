// Products of complex matrices against the definition.
#include "cpu/kernels/complex_product.h"
#include "matrix_values.h"

#include <array>
#include <tuple>

namespace torchere::cpu {
namespace {

class ComplexProducts : public EveryIsa {};

/// Factors by rows or by columns.
template <class T>
void check(const Context &context, int64_t batches, int64_t m, int64_t k, int64_t n, int form,
           double tolerance) {
  auto a = randomNumbers<T>(batches * m * k, 1), b = randomNumbers<T>(batches * k * n, 2);
  std::vector<T> c(batches * m * n, T(NAN));
  ComplexProductArgs args{typeOf<T>, batches, m,        k,     n, a.data(), m * k,
                          k,         1,       b.data(), k * n, n, 1,        c.data()};
  if (form & 1)
    std::tie(args.aRowStride, args.aColumnStride) = std::pair(int64_t(1), m);
  if (form & 2)
    std::tie(args.bRowStride, args.bColumnStride) = std::pair(int64_t(1), k);
  if (form & 4)
    args.bBatchStride = 0;
  multiplyComplex(context, args);
  for (int64_t i = 0; i < batches * m * n; ++i) {
    int64_t batch = i / (m * n), row = i / n % m, column = i % n;
    Complex sum = 0;
    for (int64_t j = 0; j < k; ++j)
      sum += at(a, batch * args.aBatchStride + row * args.aRowStride + j * args.aColumnStride) *
             at(b, batch * args.bBatchStride + j * args.bRowStride + column * args.bColumnStride);
    ASSERT_LT(std::abs(at(c, i) - sum), tolerance * double(k)) << m << ' ' << k << ' ' << n << ' ' << form;
  }
}

TEST_P(ComplexProducts, AreSumsOfProducts) {
  for (auto [batches, m, k, n] :
       {std::array<int64_t, 4>{1, 1, 1, 1}, {1, 3, 5, 7}, {20, 4, 4, 4}, {3, 17, 2, 33}, {2, 130, 300, 9}})
    for (int form = 0; form < 8; ++form) {
      check<std::complex<float>>(context, batches, m, k, n, form, 1e-6);
      check<std::complex<double>>(context, batches, m, k, n, form, 1e-15);
    }
}

TORCHERE_EVERY_ISA(ComplexProducts);

} // namespace
} // namespace torchere::cpu
