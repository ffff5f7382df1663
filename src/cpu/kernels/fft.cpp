// How transforms are made of stages, and lines of vectors.
#include "cpu/kernels/fft.h"

#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

namespace torchere::cpu {
namespace {

// Scratch slots.
constexpr int kLines = 0;
constexpr int kStages = 1;
constexpr int kChirp = 2;

/// e^(-2 pi i power / size), exact in its symmetries.
void rootOf(int64_t power, int64_t size, double *root) {
  power %= size;
  int64_t eighths = 8 * power / size; // the angle as less than an eighth of a turn from an axis
  double angle = 2 * std::numbers::pi / static_cast<double>(size);
  int64_t quarter = (eighths + 1) / 2;
  double rest = angle * static_cast<double>(4 * power - quarter * size) / 4;
  double cosine = std::cos(rest), sine = -std::sin(rest);
  for (int64_t i = 0; i < quarter % 4; ++i) { // times -i
    double turned = sine;
    sine = -cosine;
    cosine = turned;
  }
  root[0] = cosine;
  root[1] = sine;
}

/// Factors of at most kMaxFftRadix, fours first; none if a larger one is left.
std::vector<int32_t> radicesOf(int64_t size) {
  std::vector<int32_t> radices;
  for (int32_t radix = 4; size > 1 && radix <= kMaxFftRadix;) {
    if (size % radix == 0) {
      radices.push_back(radix);
      size /= radix;
    } else {
      radix = radix == 4 ? 2 : radix == 2 ? 3 : radix == 3 ? 5 : radix + 2;
    }
  }
  if (size > 1)
    radices.clear();
  return radices;
}

/// A group of lines, one in each lane.
template <class T> class Lines {
public:
  Lines(const FftArgs &args, const IsaKernels &kernels, int lanes, int64_t group);
  void run();

private:
  void readInput(T *to) const;
  void completeHalf(T *to) const;
  void writeOutput(const T *from) const;
  T *byStages(T *data) const;
  T *byChirp(T *data) const;
  /// Of element `at` of the line of a lane, in lines of `length`.
  int64_t place(int64_t lane, int64_t at, int64_t length) const {
    int64_t line = first_ + lane;
    return (line / args_.inner * length + at) * args_.inner + line % args_.inner;
  }

  const FftArgs &args_;
  const IsaKernels &kernels_;
  const FftPlan &plan_;
  int lanes_;
  int64_t first_, count_;
};

template <class T>
Lines<T>::Lines(const FftArgs &args, const IsaKernels &kernels, int lanes, int64_t group)
    : args_(args), kernels_(kernels), plan_(*args.plan), lanes_(lanes), first_(group * lanes),
      count_(std::min<int64_t>(lanes, args.outer * args.inner - first_)) {}

/// Pairs of vectors; an inverse transform is one of the numbers with their parts swapped.
template <class T> void Lines<T>::readInput(T *to) const {
  const T *input = static_cast<const T *>(args_.input);
  int64_t size = plan_.size(), length = args_.isInputHalf ? size / 2 + 1 : size;
  if (count_ < lanes_)
    std::memset(to, 0, static_cast<size_t>(size * 2 * lanes_) * sizeof(T));
  int real = args_.isInverse ? lanes_ : 0, imaginary = lanes_ - real;
  for (int64_t lane = 0; lane < count_; ++lane) {
    int64_t from = place(lane, 0, length), step = args_.inner;
    T *at = to + lane;
    for (int64_t i = 0; i < length; ++i, from += step, at += 2 * lanes_) {
      at[real] = args_.isInputReal ? input[from] : input[2 * from];
      at[imaginary] = args_.isInputReal ? T(0) : input[2 * from + 1];
    }
  }
  if (args_.isInputHalf)
    completeHalf(to);
}

/// Imaginary parts that must be zero are not read.
template <class T> void Lines<T>::completeHalf(T *to) const {
  int64_t size = plan_.size();
  int real = args_.isInverse ? lanes_ : 0, imaginary = lanes_ - real;
  auto at = [&](int64_t i) { return to + i * 2 * lanes_; };
  for (int lane = 0; lane < lanes_; ++lane) {
    at(0)[imaginary + lane] = 0;
    if (size % 2 == 0)
      at(size / 2)[imaginary + lane] = 0;
    for (int64_t i = size / 2 + 1; i < size; ++i) {
      at(i)[real + lane] = at(size - i)[real + lane];
      at(i)[imaginary + lane] = -at(size - i)[imaginary + lane];
    }
  }
}

template <class T> void Lines<T>::writeOutput(const T *from) const {
  T *output = static_cast<T *>(args_.output);
  int real = args_.isInverse ? lanes_ : 0, imaginary = lanes_ - real;
  T size = static_cast<T>(plan_.size()), divisor = args_.isInverse ? size : T(1);
  for (int64_t lane = 0; lane < count_; ++lane) {
    int64_t to = place(lane, 0, args_.outputSize), step = args_.inner;
    const T *at = from + lane;
    for (int64_t i = 0; i < args_.outputSize; ++i, to += step, at += 2 * lanes_) {
      if (args_.isOutputReal) {
        output[to] = at[real] / divisor;
        continue;
      }
      output[2 * to] = at[real] / divisor;
      output[2 * to + 1] = at[imaginary] / divisor;
    }
  }
}

template <class T> T *Lines<T>::byStages(T *data) const {
  FftJob job;
  job.size = plan_.size();
  job.radices = plan_.radices().data();
  job.radixCount = static_cast<int>(plan_.radices().size());
  job.roots = plan_.roots();
  job.isVector = lanes_ > 1;
  job.data = data;
  job.scratch = ThreadPool::scratch(static_cast<size_t>(job.size * 2 * lanes_) * sizeof(T), kStages);
  return static_cast<T *>(kernels_.fft[sizeof(T) == 8](job));
}

/// numbers *= factors, as pairs of vectors; with the parts of the result swapped if `swaps`.
void multiply(double *numbers, const double *factors, int64_t size, int64_t lanes, bool swaps) {
  for (int64_t i = 0; i < size; ++i) {
    double *real = numbers + i * 2 * lanes, *imaginary = real + lanes;
    double c = factors[2 * i], s = factors[2 * i + 1];
    for (int64_t lane = 0; lane < lanes; ++lane) {
      double x = real[lane] * c - imaginary[lane] * s, y = real[lane] * s + imaginary[lane] * c;
      real[lane] = swaps ? y : x;
      imaginary[lane] = swaps ? x : y;
    }
  }
}

/// The convolution with a chirp, after Bluestein, one lane after the other. Always in f64: its intermediate
/// results are larger than the result.
template <class T> T *Lines<T>::byChirp(T *data) const {
  const FftPlan &inner = *plan_.inner();
  int64_t size = plan_.size(), padded = inner.size();
  auto *work =
      static_cast<double *>(ThreadPool::scratch(static_cast<size_t>(4 * padded) * sizeof(double), kChirp));
  FftJob job{
      padded, inner.radices().data(), static_cast<int>(inner.radices().size()), inner.roots(), false, nullptr,
      nullptr};
  for (int lane = 0; lane < lanes_; ++lane) {
    for (int64_t i = 0; i < 2 * size; ++i)
      work[i] = static_cast<double>(data[i * lanes_ + lane]);
    multiply(work, plan_.chirp().data(), size, 1, false);
    std::fill(work + 2 * size, work + 2 * padded, 0.0);
    job.data = work;
    job.scratch = work + 2 * padded;
    auto *spectrum = static_cast<double *>(kernels_.fft[1](job));
    multiply(spectrum, plan_.filter().data(), padded, 1, /*swaps=*/true);
    job.data = spectrum;
    job.scratch = spectrum == work ? work + 2 * padded : work;
    auto *convolved = static_cast<double *>(kernels_.fft[1](job));
    for (int64_t i = 0; i < size; ++i) // whose parts are still swapped
      std::swap(convolved[2 * i], convolved[2 * i + 1]);
    multiply(convolved, plan_.chirp().data(), size, 1, false);
    for (int64_t i = 0; i < 2 * size; ++i)
      data[i * lanes_ + lane] = static_cast<T>(convolved[i] / static_cast<double>(padded));
  }
  return data;
}

template <class T> void Lines<T>::run() {
  auto *data = static_cast<T *>(
      ThreadPool::scratch(static_cast<size_t>(plan_.size() * 2 * lanes_) * sizeof(T), kLines));
  readInput(data);
  writeOutput(plan_.inner() ? byChirp(data) : byStages(data));
}

template <class T> void transformAll(const Context &context, const FftArgs &args) {
  const IsaKernels &kernels = kernelsOf(context.isa);
  int64_t lines = args.outer * args.inner;
  int vector = kernels.lanes * 4 / static_cast<int>(sizeof(T));
  int lanes = 2 * lines <= vector ? 1 : vector;
  context.pool.parallelFor(divideUp(lines, lanes),
                           [&](int64_t group) { Lines<T>(args, kernels, lanes, group).run(); });
}

} // namespace

FftPlan::FftPlan(DType type, int64_t size) : type_(type), size_(size), radices_(radicesOf(size)) {
  if (size > 1 && radices_.empty())
    makeChirp();
  else
    makeRoots();
}

void FftPlan::makeRoots() {
  int64_t rest = size_;
  double root[2];
  auto add = [&](int64_t power, int64_t size) {
    rootOf(power, size, root);
    for (double part : root)
      type_ == DType::F64 ? doubles_.push_back(part) : floats_.push_back(static_cast<float>(part));
  };
  for (int32_t radix : radices_) {
    int64_t size = rest;
    rest /= radix;
    for (int32_t i = 0; i < radix; ++i)
      add(i, radix);
    for (int64_t group = 0; group < rest; ++group)
      for (int32_t i = 1; i < radix; ++i)
        add(group * i, size);
  }
}

void FftPlan::makeChirp() {
  int64_t padded = 1;
  while (padded < 2 * size_ - 1)
    padded *= 2;
  inner_ = std::make_unique<FftPlan>(DType::F64, padded);
  chirp_.resize(static_cast<size_t>(2 * size_));
  std::vector<double> wave(static_cast<size_t>(2 * padded)), scratch(wave.size());
  for (int64_t i = 0, square = 0; i < size_; ++i) { // square is i * i modulo 2 * size
    double *root = &chirp_[static_cast<size_t>(2 * i)];
    rootOf(square, 2 * size_, root);
    for (int64_t at : {i, (padded - i) % padded}) {
      wave[static_cast<size_t>(2 * at)] = root[0];
      wave[static_cast<size_t>(2 * at + 1)] = -root[1];
    }
    square = (square + 2 * i + 1) % (2 * size_);
  }
  FftJob job{padded,
             inner_->radices().data(),
             static_cast<int>(inner_->radices().size()),
             inner_->roots(),
             false,
             wave.data(),
             scratch.data()};
  auto *filter = static_cast<double *>(kernelsOf(Isa::Baseline).fft[1](job));
  filter_.assign(filter, filter + 2 * padded);
}

void fft(const Context &context, const FftArgs &args) {
  if (args.outer * args.inner == 0)
    return;
  args.plan->type() == DType::F64 ? transformAll<double>(context, args) : transformAll<float>(context, args);
}

} // namespace torchere::cpu
