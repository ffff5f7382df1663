// Fourier transforms of lines: sizes with small factors by stages of them, others by convolution with a
// chirp.
#pragma once

#include "base/dtype.h"
#include "cpu/kernels/thread_pool.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace torchere::cpu {

/// What lines are transformed.
struct FftLines {
  bool isReal = false; ///< on the side that has all numbers of a line
  int64_t count = 0;   ///< of lines whose numbers lie beside each other; 0 for others, and if it is not known
};

/// What the transforms of one size share; made once.
class FftPlan {
public:
  /// `type` is that of a number's parts: F32 or F64. `size` is at least 1.
  FftPlan(DType type, int64_t size, const FftLines &lines = {});

  DType type() const { return type_; }
  int64_t size() const { return size_; }
  const std::vector<int32_t> &radices() const { return radices_; }
  const void *roots() const { return data(roots_); }
  /// Of half the size, for the pairs of real lines of an even size; null if they are none.
  const FftPlan *half() const { return half_.get(); }
  const void *halfRoots() const { return data(halfRoots_); } ///< see FftHalvesJob
  /// A few or long lines are transformed as matrices of so many rows and columns, first along their columns;
  /// null for others. Numbers are multiplied by `turns`, [rows][columns], in between.
  const FftPlan *rows() const { return rows_.get(); }
  const FftPlan *columns() const { return columns_.get(); }
  const void *turns() const { return data(turns_); }
  /// Of a size with small factors alone, with which transforms of this size are made: null unless this size
  /// has a large one. If it is a matrix, it is of this type, lines are transformed one by one, and of real
  /// lines nothing that follows from their symmetry is computed; else it is of f64, for lines in lanes.
  const FftPlan *inner() const { return inner_.get(); }
  bool hasLongChirp() const { return inner_ && inner_->rows(); }
  /// Pairs of inner()'s type: `size` of them, and inner()->size(), divided by that.
  const void *chirp() const { return inner_->data(chirp_); }
  const void *filter() const { return inner_->data(filter_); }

private:
  /// Pairs of the type.
  struct Numbers {
    std::vector<float> floats;
    std::vector<double> doubles;
  };
  const void *data(const Numbers &numbers) const {
    return type_ == DType::F64 ? static_cast<const void *>(numbers.doubles.data()) : numbers.floats.data();
  }
  void addRoot(Numbers &numbers, int64_t power, int64_t size) const;
  void makeHalf(const FftLines &lines);
  void makeRoots();
  bool makeMatrix(int64_t lines);
  void makeChirp(bool isReal);

  DType type_;
  int64_t size_;
  std::vector<int32_t> radices_;
  Numbers roots_, halfRoots_, turns_, chirp_, filter_;
  std::unique_ptr<FftPlan> half_, rows_, columns_, inner_;
};

/// Of each line along the middle dimension of [outer][size][inner] numbers, contiguous. The inverse divides
/// by the size. The output may be the input where both are complex and as long.
struct FftArgs {
  const FftPlan *plan = nullptr;
  bool isInverse = false;
  int64_t outer = 1;
  int64_t inner = 1; ///< 1 if one side is real
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
