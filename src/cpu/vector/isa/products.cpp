// Products of small matrices, which programs of scalars compute where they lie.
#include "cpu/vector/isa/loops.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

template <class T> T dot(const T *a, const T *b, int64_t k) {
  constexpr int64_t lanes = kLanesOf<T>;
  T total = 0;
  int64_t i = 0;
  if (k >= lanes) {
    Vec<T> sums = load(a) * load(b);
    for (i = lanes; i + lanes <= k; i += lanes)
      sums += load(a + i) * load(b + i);
    total = foldLanes<T>(sums, [](T x, T y) { return x + y; });
  }
  for (; i < k; ++i)
    total += a[i] * b[i];
  return total;
}

/// As many columns of a row of the result as `V` has lanes.
template <class V, class T> TORCHERE_INLINE void columns(T *r, const T *a, const T *b, int64_t k, int64_t n) {
  V sums{};
  for (int64_t i = 0; i < k; ++i) {
    V row;
    __builtin_memcpy(&row, b + i * n, sizeof row);
    sums += a[i] * row;
  }
  __builtin_memcpy(r, &sums, sizeof sums);
}

template <class T>
void product(void *result, const void *left, const void *right, int64_t m, int64_t k, int64_t n) {
  using Short = typename VectorOf<T, 16>::Type;
  constexpr int64_t lanes = kLanesOf<T>, shortLanes = 16 / sizeof(T);
  T *r = static_cast<T *>(result);
  const T *a = static_cast<const T *>(left), *b = static_cast<const T *>(right);
  for (int64_t row = 0; row < m; ++row, a += k, r += n) {
    int64_t j = 0;
    if (n == 1) {
      r[0] = dot(a, b, k);
      continue;
    }
    for (; j + lanes <= n; j += lanes)
      columns<Vec<T>>(r + j, a, b + j, k, n);
    for (; j + shortLanes <= n; j += shortLanes)
      columns<Short>(r + j, a, b + j, k, n);
    for (; j < n; ++j) {
      T sum = 0;
      for (int64_t i = 0; i < k; ++i)
        sum += a[i] * b[i * n + j];
      r[j] = sum;
    }
  }
}

} // namespace

void addProducts(Primitives &table) {
  table.products[kFloat] = &product<float>;
  table.products[kDouble] = &product<double>;
}

} // namespace torchere::cpu::TORCHERE_ISA
