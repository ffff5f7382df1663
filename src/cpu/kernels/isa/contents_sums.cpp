// Sums that tell contents apart, at the speed of memory.
#include "cpu/kernels/isa/parts.h"
#include "cpu/kernels/isa/simd.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

using Words = Vec<uint32_t>;
using Products = Vec<uint64_t>;

/// Of each pair of words.
TORCHERE_INLINE Products productsOf(Words words) {
  auto pairs = (Products)words;
#if defined(__AVX512F__)
  return (Products)_mm512_maskz_mul_epu32(0xff, (__m512i)pairs, (__m512i)(pairs >> 32));
#elif defined(__AVX2__) && !defined(TORCHERE_EMULATED_AVX512)
  return (Products)_mm256_mul_epu32((__m256i)pairs, (__m256i)(pairs >> 32));
#else
  return (pairs & splat<uint64_t>(0xffffffffu)) * (pairs >> 32);
#endif
}

/// Both sums at once. More would take longer than the memory needs for the words.
void sumContents(const ContentsSumsJob &job) {
  Products sums[kContentsSums] = {};
  for (int64_t i = 0; i < kContentsWords; i += kLanes) {
    Words words = load(job.words + i);
#pragma GCC unroll 2
    for (int sum = 0; sum < kContentsSums; ++sum)
      sums[sum] += productsOf(words + load(job.keys + sum * kContentsWords + i));
  }
  for (int sum = 0; sum < kContentsSums; ++sum) {
    uint64_t total = 0;
    for (int lane = 0; lane < kLanesOf<uint64_t>; ++lane)
      total += sums[sum][lane];
    job.sums[sum] = total;
  }
}

} // namespace

void addContentsSums(IsaKernels &table) {
  table.sumContents = sumContents;
}

} // namespace torchere::cpu::TORCHERE_ISA
