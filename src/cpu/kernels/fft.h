// Fourier transforms of lines: sizes with small factors by stages of them, others by convolution with a
// chirp.
#pragma once

#include "base/dtype.h"
#include "cpu/kernels/thread_pool.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace torchere::cpu {

/// What the transforms of one size share; made once.
class FftPlan {
public:
  /// `type` is that of a number's parts: F32 or F64. `size` is at least 1.
  FftPlan(DType type, int64_t size);

  DType type() const { return type_; }
  int64_t size() const { return size_; }
  const std::vector<int32_t> &radices() const { return radices_; }
  const void *roots() const {
    return type_ == DType::F64 ? static_cast<const void *>(doubles_.data()) : floats_.data();
  }
  /// Of f64, of a size with small factors alone, with which transforms of this size are made: null unless
  /// this size has a large one.
  const FftPlan *inner() const { return inner_.get(); }
  const std::vector<double> &chirp() const { return chirp_; }   ///< pairs, `size` of them
  const std::vector<double> &filter() const { return filter_; } ///< pairs, inner()->size() of them

private:
  void makeRoots();
  void makeChirp();

  DType type_;
  int64_t size_;
  std::vector<int32_t> radices_;
  std::vector<float> floats_;
  std::vector<double> doubles_;
  std::unique_ptr<FftPlan> inner_;
  std::vector<double> chirp_, filter_;
};

/// Of each line along the middle dimension of [outer][size][inner] numbers, contiguous. The inverse divides
/// by the size. The output may be the input where both are complex and as long.
struct FftArgs {
  const FftPlan *plan = nullptr;
  bool isInverse = false;
  int64_t outer = 1;
  int64_t inner = 1;
  const void *input = nullptr;
  bool isInputReal = false;
  /// The input has size / 2 + 1 numbers, of a line whose others are their conjugates.
  bool isInputHalf = false;
  void *output = nullptr;
  bool isOutputReal = false;
  int64_t outputSize = 0; ///< the first results, at most `size`
};
void fft(const Context &context, const FftArgs &args);

} // namespace torchere::cpu
