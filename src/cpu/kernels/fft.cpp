// How transforms are made of stages, and lines of vectors.
#include "cpu/kernels/fft.h"

#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

namespace torchere::cpu {
namespace {

// Scratch slots.
constexpr int kLines = 0;
constexpr int kStages = 1;
constexpr int kChirp = 2;
constexpr int kMatrix = 3;
constexpr int kSpectrum = 4;

/// Lines so long are matrices, and, from the smaller size on, a few lines.
constexpr int64_t kLongLine = 2048;
constexpr int64_t kShortLine = 256;
constexpr int64_t kFewLines = 4;
constexpr int64_t kLeastSide = 16; ///< of such a matrix

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

/// Where lines lie: number `at` of line `line`. Numbers are pairs of parts, but on a side that is real.
struct Side {
  int64_t inner = 1; ///< lines beside each other, number by number
  int64_t outer = 0; ///< from so many lines to the next ones
  int64_t step = 1;  ///< from a number to the next

  int64_t place(int64_t line, int64_t at) const { return line / inner * outer + line % inner + at * step; }
};

/// What becomes of the lines of one pass.
template <class T> struct Pass {
  const FftPlan *plan = nullptr; ///< of the stages
  bool isInverse = false;
  int64_t divisor = 1;
  int64_t lines = 0;
  const T *input = nullptr;
  Side from;
  int64_t inputSize = 0;
  bool isInputReal = false;
  bool isInputHalf = false; ///< and is completed
  T *output = nullptr;
  Side to;
  int64_t outputSize = 0;
  bool isOutputReal = false;
  const void *halfRoots = nullptr; ///< of pairs of real numbers: the other side has half a line's transform
  const T *turns = nullptr; ///< what results are multiplied by, or their conjugates: it lies as they do
};

/// A group of lines, one in each lane.
template <class T> class Lines {
public:
  Lines(const Pass<T> &pass, const IsaKernels &kernels, int lanes, int64_t group)
      : pass_(pass), kernels_(kernels), plan_(*pass.plan), lanes_(lanes), first_(group * lanes),
        count_(std::min<int64_t>(lanes, pass.lines - first_)) {}

  void run() {
    size_t bytes = static_cast<size_t>((plan_.size() + 1) * 2 * lanes_) * sizeof(T);
    auto *data = static_cast<T *>(ThreadPool::scratch(bytes, kLines));
    auto *other = static_cast<T *>(ThreadPool::scratch(bytes, kStages));
    auto swap = [&](T *result) { // which is one of the two
      other = result == data ? other : data;
      data = result;
    };
    readInput(data);
    if (pass_.halfRoots && pass_.isInverse) {
      convertHalves(data, other);
      swap(other);
    }
    swap(plan_.inner() ? byChirp(data) : byStages(data, other));
    if (pass_.halfRoots && !pass_.isInverse) {
      convertHalves(data, other);
      swap(other);
    }
    if (pass_.divisor != 1) {
      T factor = static_cast<T>(1 / static_cast<double>(pass_.divisor));
      for (int64_t i = 0; i < plan_.size() * 2 * lanes_; ++i)
        data[i] *= factor;
    }
    writeOutput(data);
  }

private:
  static constexpr int kWide = sizeof(T) == 8;

  bool isContiguous(const Side &side) const { return side.inner == 1 && side.step == 1; }
  bool liesBeside(const Side &side) const {
    return lanes_ > 1 && count_ == lanes_ && first_ % side.inner + lanes_ <= side.inner;
  }
  void readInput(T *to) const;
  void completeHalf(T *to) const;
  void writeOutput(T *from) const;
  void convertHalves(const T *from, T *to) const {
    int64_t half = plan_.size();
    kernels_.fftHalves[kWide]({half, pass_.halfRoots, lanes_ > 1, pass_.isInverse, from, to});
  }
  T *byStages(T *data, T *other) const {
    FftJob job;
    job.size = plan_.size();
    job.radices = plan_.radices().data();
    job.radixCount = static_cast<int>(plan_.radices().size());
    job.roots = plan_.roots();
    job.isVector = lanes_ > 1;
    job.isInverse = pass_.isInverse;
    job.data = data;
    job.scratch = other;
    return static_cast<T *>(kernels_.fft[kWide](job));
  }
  T *byChirp(T *data) const;

  const Pass<T> &pass_;
  const IsaKernels &kernels_;
  const FftPlan &plan_;
  int lanes_;
  int64_t first_, count_;
};

/// Pairs of vectors.
template <class T> void Lines<T>::readInput(T *to) const {
  const Side &side = pass_.from;
  int64_t size = pass_.inputSize;
  if (count_ < lanes_)
    std::memset(to, 0, static_cast<size_t>(plan_.size() + 1) * 2 * static_cast<size_t>(lanes_) * sizeof(T));
  if (!pass_.isInputReal && isContiguous(side) && lanes_ == 1) {
    std::memcpy(to, pass_.input + 2 * first_ * side.outer, static_cast<size_t>(2 * size) * sizeof(T));
  } else if (!pass_.isInputReal && isContiguous(side)) {
    kernels_.transpose[kWide + 2](pass_.input + 2 * first_ * side.outer, 2 * side.outer, to, lanes_, count_,
                                  2 * size);
  } else if (!pass_.isInputReal && liesBeside(side)) {
    auto *numbers = const_cast<T *>(pass_.input) + 2 * side.place(first_, 0);
    kernels_.splitNumbers[kWide]({numbers, side.step, size, to, nullptr});
  } else {
    for (int64_t lane = 0; lane < count_; ++lane) {
      int64_t from = side.place(first_ + lane, 0);
      T *at = to + lane;
      for (int64_t i = 0; i < size; ++i, from += side.step, at += 2 * lanes_) {
        at[0] = pass_.isInputReal ? pass_.input[from] : pass_.input[2 * from];
        at[lanes_] = pass_.isInputReal ? T(0) : pass_.input[2 * from + 1];
      }
    }
  }
  if (pass_.isInputHalf)
    completeHalf(to);
}

/// Imaginary parts that must be zero are not read.
template <class T> void Lines<T>::completeHalf(T *to) const {
  int64_t size = plan_.size();
  auto at = [&](int64_t i) { return to + i * 2 * lanes_; };
  for (int lane = 0; lane < lanes_; ++lane) {
    at(0)[lanes_ + lane] = 0;
    if (size % 2 == 0)
      at(size / 2)[lanes_ + lane] = 0;
    for (int64_t i = size / 2 + 1; i < size; ++i) {
      at(i)[lane] = at(size - i)[lane];
      at(i)[lanes_ + lane] = -at(size - i)[lanes_ + lane];
    }
  }
}

template <class T> void Lines<T>::writeOutput(T *from) const {
  const Side &side = pass_.to;
  int64_t size = pass_.outputSize;
  if (!pass_.isOutputReal && !pass_.turns && isContiguous(side)) {
    if (lanes_ == 1) {
      std::memcpy(pass_.output + 2 * first_ * side.outer, from, static_cast<size_t>(2 * size) * sizeof(T));
      return;
    }
    kernels_.transpose[kWide + 2](from, lanes_, pass_.output + 2 * first_ * side.outer, 2 * side.outer,
                                  2 * size, count_);
    return;
  }
  if (!pass_.isOutputReal && liesBeside(side)) {
    int64_t place = side.place(first_, 0);
    const T *turns = pass_.turns ? pass_.turns + 2 * place : nullptr;
    kernels_.joinNumbers[kWide]({pass_.output + 2 * place, side.step, size, from, turns, pass_.isInverse});
    return;
  }
  for (int64_t lane = 0; lane < count_; ++lane) {
    int64_t to = side.place(first_ + lane, 0);
    const T *at = from + lane;
    for (int64_t i = 0; i < size; ++i, to += side.step, at += 2 * lanes_) {
      T real = at[0], imaginary = at[lanes_];
      if (pass_.isOutputReal) {
        pass_.output[to] = real;
        continue;
      }
      T c = pass_.turns ? pass_.turns[2 * to] : T(1), s = pass_.turns ? pass_.turns[2 * to + 1] : T(0);
      s = pass_.isInverse ? -s : s;
      pass_.output[2 * to] = pass_.turns ? real * c - imaginary * s : real;
      pass_.output[2 * to + 1] = pass_.turns ? real * s + imaginary * c : imaginary;
    }
  }
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

/// The convolution with a chirp, after Bluestein, of as many lanes at once as a vector has of f64: its
/// intermediate results are larger than the result. An inverse transform is that of swapped parts.
template <class T> T *Lines<T>::byChirp(T *data) const {
  const FftPlan &inner = *plan_.inner();
  const auto *chirp = static_cast<const double *>(plan_.chirp());
  const int64_t size = plan_.size(), padded = inner.size();
  const int64_t lanes = lanes_ > 1 ? kernels_.lanes / 2 : 1; // of f64
  const int64_t real = pass_.isInverse ? lanes_ : 0, imaginary = lanes_ - real;
  auto *work = static_cast<double *>(
      ThreadPool::scratch(static_cast<size_t>(4 * padded * lanes) * sizeof(double), kChirp));
  double *const other = work + 2 * padded * lanes;
  FftJob job{padded, inner.radices().data(), static_cast<int>(inner.radices().size()), inner.roots(),
             lanes > 1};
  for (int64_t first = 0; first < lanes_; first += lanes) {
    for (int64_t i = 0; i < size; ++i)
      for (int64_t lane = 0; lane < lanes; ++lane) {
        const T *from = data + i * 2 * lanes_ + first + lane;
        work[i * 2 * lanes + lane] = static_cast<double>(from[real]);
        work[(i * 2 + 1) * lanes + lane] = static_cast<double>(from[imaginary]);
      }
    multiply(work, chirp, size, lanes, false);
    std::fill(work + 2 * size * lanes, other, 0.0);
    job.data = work;
    job.scratch = other;
    auto *spectrum = static_cast<double *>(kernels_.fft[1](job));
    multiply(spectrum, static_cast<const double *>(plan_.filter()), padded, lanes, /*swaps=*/true);
    job.data = spectrum;
    job.scratch = spectrum == work ? other : work;
    auto *convolved = static_cast<double *>(kernels_.fft[1](job));
    for (int64_t i = 0; i < size; ++i) // whose parts are still swapped
      for (int64_t lane = 0; lane < lanes; ++lane)
        std::swap(convolved[i * 2 * lanes + lane], convolved[(i * 2 + 1) * lanes + lane]);
    multiply(convolved, chirp, size, lanes, false);
    for (int64_t i = 0; i < size; ++i)
      for (int64_t lane = 0; lane < lanes; ++lane) {
        T *to = data + i * 2 * lanes_ + first + lane;
        to[real] = static_cast<T>(convolved[i * 2 * lanes + lane]);
        to[imaginary] = static_cast<T>(convolved[(i * 2 + 1) * lanes + lane]);
      }
  }
  return data;
}

template <class T> void runPass(const Context &context, const Pass<T> &pass) {
  const IsaKernels &kernels = kernelsOf(context.isa);
  int vector = kernels.lanes * 4 / static_cast<int>(sizeof(T));
  int lanes = 2 * pass.lines <= vector ? 1 : vector;
  context.pool.parallelFor(divideUp(pass.lines, lanes),
                           [&](int64_t group) { Lines<T>(pass, kernels, lanes, group).run(); });
}

/// One contiguous line as a matrix: its columns, of which number k is turned by k times the column, then its
/// rows, whose results stand in columns.
template <class T>
void transformMatrix(const Context &context, const FftPlan &plan, bool isInverse, int64_t divisor,
                     const T *input, T *output) {
  int64_t rows = plan.rows()->size(), columns = plan.columns()->size();
  auto *matrix =
      static_cast<T *>(ThreadPool::scratch(static_cast<size_t>(2 * plan.size()) * sizeof(T), kMatrix));
  Pass<T> pass;
  pass.isInverse = isInverse;
  pass.plan = plan.rows();
  pass.lines = columns;
  pass.input = input;
  pass.output = matrix;
  pass.from = pass.to = {columns, 0, columns};
  pass.inputSize = pass.outputSize = rows;
  pass.turns = static_cast<const T *>(plan.turns());
  runPass(context, pass);
  pass.plan = plan.columns();
  pass.divisor = divisor;
  pass.lines = rows;
  pass.input = matrix;
  pass.output = output;
  pass.from = {1, columns, 1};
  pass.to = {rows, 0, rows};
  pass.inputSize = pass.outputSize = columns;
  pass.turns = nullptr;
  runPass(context, pass);
}

/// One line, by the convolution with a chirp. Its numbers are `step` from each other.
template <class T> class ChirpLine {
public:
  ChirpLine(const Context &context, const FftPlan &plan, bool isInverse, int64_t divisor)
      : context_(context), kernels_(kernelsOf(context.isa)), plan_(plan), isInverse_(isInverse),
        divisor_(divisor), padded_(plan.inner()->size()) {
    auto bytes = static_cast<size_t>(2 * padded_ + 2) * sizeof(T);
    pairs_ = static_cast<T *>(ThreadPool::scratch(bytes, kChirp));
  }

  void run(const T *input, T *output, int64_t step, int64_t count, int64_t outputCount) {
    read(input, step, count, /*isReal=*/false, 1, 1);
    convolve();
    write(output, step, outputCount, /*isReal=*/false, 1);
  }
  /// The first numbers of a real line's transform.
  void runReal(const T *input, T *output, int64_t outputCount) {
    read(input, 1, plan_.size(), /*isReal=*/true, 1, 1);
    convolve();
    write(output, 1, outputCount, /*isReal=*/false, 1);
  }
  /// A real line from the first half of its transform: of the numbers behind the first, whose conjugates are
  /// not there, twice the real part. As the filter is shorter to that side, numbers stand backwards.
  void runHalf(const T *input, T *output) {
    read(input, 1, plan_.size() / 2 + 1, /*isReal=*/false, 2, -1);
    pairs_[0] = input[0];
    pairs_[1] = 0;
    convolve();
    pairs_[2 * padded_] = pairs_[0];
    pairs_[2 * padded_ + 1] = pairs_[1];
    write(output, 1, plan_.size(), /*isReal=*/true, -1);
  }

private:
  static constexpr int kWide = sizeof(T) == 8;

  void read(const T *input, int64_t step, int64_t count, bool isReal, double factor, int64_t pairStep) {
    const bool isForwards = pairStep > 0;
    ChirpJob job{const_cast<T *>(input), step, isReal, isInverse_, factor, plan_.chirp()};
    job.pairs = isForwards ? pairs_ : pairs_ + 2 * padded_;
    job.pairStep = pairStep;
    job.count = count;
    kernels_.spreadChirp[kWide](job);
    T *rest = isForwards ? pairs_ + 2 * count : pairs_;
    std::fill(rest, rest + 2 * (padded_ - count) + (isForwards ? 0 : 2), T(0));
  }
  void convolve() {
    const FftPlan &inner = *plan_.inner();
    transformMatrix(context_, inner, false, 1, pairs_, pairs_);
    kernels_.multiplyPairs[kWide](pairs_, plan_.filter(), padded_);
    transformMatrix(context_, inner, true, 1, pairs_, pairs_);
  }
  void write(T *output, int64_t step, int64_t count, bool isReal, int64_t pairStep) {
    ChirpJob job{output, step, isReal, isInverse_, 1 / static_cast<double>(divisor_), plan_.chirp()};
    job.pairs = pairStep > 0 ? pairs_ : pairs_ + 2 * padded_;
    job.pairStep = pairStep;
    job.count = count;
    kernels_.gatherChirp[kWide](job);
  }

  const Context &context_;
  const IsaKernels &kernels_;
  const FftPlan &plan_;
  bool isInverse_;
  int64_t divisor_, padded_;
  T *pairs_;
};

/// function(line) for all, with all threads in one line if these are few.
template <class Function> void forEachLine(const Context &context, int64_t lines, Function function) {
  if (lines >= kFewLines)
    return context.pool.parallelFor(lines, function);
  for (int64_t line = 0; line < lines; ++line)
    function(line);
}

/// Lines of complex numbers, or of an odd size.
template <class T> void transformByChirps(const Context &context, const FftArgs &args) {
  const FftPlan &plan = *args.plan;
  int64_t size = plan.size(), divisor = args.isInverse ? size : 1;
  auto *input = static_cast<const T *>(args.input);
  auto *output = static_cast<T *>(args.output);
  forEachLine(context, args.outer * args.inner, [&](int64_t number) {
    ChirpLine<T> line(context, plan, args.isInverse, divisor);
    if (args.isInputReal)
      return line.runReal(input + number * size, output + 2 * number * args.outputSize, args.outputSize);
    if (args.isInputHalf)
      return line.runHalf(input + 2 * number * (size / 2 + 1), output + number * size);
    int64_t outer = number / args.inner, inner = number % args.inner;
    line.run(input + 2 * (outer * size * args.inner + inner),
             output + 2 * (outer * args.outputSize * args.inner + inner), args.inner, size, args.outputSize);
  });
}

/// Lines that are matrices, or whose halves are made by a chirp; a real side is one of pairs.
template <class T> void transformMatrices(const Context &context, const FftArgs &args) {
  const FftPlan *half = args.plan->half();
  const FftPlan &plan = half ? *half : *args.plan;
  const IsaKernels &kernels = kernelsOf(context.isa);
  int64_t size = plan.size(), divisor = args.isInverse ? size : 1;
  auto *input = static_cast<const T *>(args.input);
  auto *output = static_cast<T *>(args.output);
  auto transformLine = [&](int64_t line) {
    const T *from = input + 2 * line * (args.isInputHalf ? size + 1 : size);
    T *to = output + 2 * line * (half && !args.isInverse ? size + 1 : size);
    auto transform = [&](const T *numbers, T *results) {
      if (plan.inner())
        ChirpLine<T>(context, plan, args.isInverse, divisor).run(numbers, results, 1, size, size);
      else
        transformMatrix(context, plan, args.isInverse, divisor, numbers, results);
    };
    if (!half)
      return transform(from, to);
    auto *numbers =
        static_cast<T *>(ThreadPool::scratch(static_cast<size_t>(2 * size) * sizeof(T), kSpectrum));
    FftHalvesJob job{size, args.plan->halfRoots(), false, args.isInverse, numbers, to};
    if (args.isInverse) {
      job.from = from;
      job.to = numbers;
      kernels.fftHalves[sizeof(T) == 8](job);
    }
    transform(args.isInverse ? numbers : from, args.isInverse ? to : numbers);
    if (!args.isInverse)
      kernels.fftHalves[sizeof(T) == 8](job);
  };
  forEachLine(context, args.outer, transformLine);
}

template <class T> void transformAll(const Context &context, const FftArgs &args) {
  const FftPlan *half = args.plan->half();
  const FftPlan &plan = half ? *half : *args.plan;
  if (plan.rows() || (half && plan.hasLongChirp()))
    return transformMatrices<T>(context, args);
  if (plan.hasLongChirp())
    return transformByChirps<T>(context, args);
  Pass<T> pass;
  pass.plan = &plan;
  pass.isInverse = args.isInverse;
  pass.divisor = args.isInverse ? plan.size() : 1;
  pass.lines = args.outer * args.inner;
  pass.input = static_cast<const T *>(args.input);
  pass.output = static_cast<T *>(args.output);
  pass.inputSize = args.isInputHalf ? args.plan->size() / 2 + 1 : plan.size();
  pass.outputSize = half && args.isInverse ? plan.size() : args.outputSize;
  if (half) {
    pass.halfRoots = args.plan->halfRoots();
  } else {
    pass.isInputReal = args.isInputReal;
    pass.isInputHalf = args.isInputHalf;
    pass.isOutputReal = args.isOutputReal;
  }
  pass.from = {args.inner, pass.inputSize * args.inner, args.inner};
  pass.to = {args.inner, pass.outputSize * args.inner, args.inner};
  runPass(context, pass);
}

} // namespace

FftPlan::FftPlan(DType type, int64_t size, const FftLines &lines)
    : type_(type), size_(size), radices_(radicesOf(size)) {
  if (lines.isReal && size % 2 == 0)
    makeHalf(lines);
  else if (size > 1 && radices_.empty())
    makeChirp(lines.isReal);
  else if (lines.isReal || !makeMatrix(lines.count))
    makeRoots();
}

void FftPlan::addRoot(Numbers &numbers, int64_t power, int64_t size) const {
  double root[2];
  rootOf(power, size, root);
  for (double part : root)
    type_ == DType::F64 ? numbers.doubles.push_back(part)
                        : numbers.floats.push_back(static_cast<float>(part));
}

void FftPlan::makeHalf(const FftLines &lines) {
  half_ = std::make_unique<FftPlan>(type_, size_ / 2, FftLines{false, lines.count});
  for (int64_t k = 0; 4 * k <= size_; ++k)
    addRoot(halfRoots_, k, size_);
}

/// The most even sides, if both are as long as vectors.
bool FftPlan::makeMatrix(int64_t lines) {
  if (lines == 0 || size_ < (lines < kFewLines ? kShortLine : kLongLine))
    return false;
  auto side = static_cast<int64_t>(std::sqrt(static_cast<double>(size_)));
  while (side >= kLeastSide && size_ % side != 0)
    --side;
  if (side < kLeastSide)
    return false;
  rows_ = std::make_unique<FftPlan>(type_, side);
  columns_ = std::make_unique<FftPlan>(type_, size_ / side);
  for (int64_t row = 0; row < side; ++row)
    for (int64_t column = 0; column < size_ / side; ++column)
      addRoot(turns_, row * column, size_);
  return true;
}

void FftPlan::makeRoots() {
  int64_t rest = size_;
  for (int32_t radix : radices_) {
    int64_t size = rest;
    rest /= radix;
    for (int32_t i = 0; i < radix; ++i)
      addRoot(roots_, i, radix);
    for (int64_t group = 0; group < rest; ++group)
      for (int32_t i = 1; i < radix; ++i)
        addRoot(roots_, group * i, size);
  }
}

/// The least size from `size` on that has few and small factors.
static int64_t paddedSize(int64_t size) {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int64_t odd : {1, 3, 5, 9, 15}) {
    int64_t padded = odd;
    while (padded < size)
      padded *= 2;
    least = std::min(least, padded);
  }
  return least;
}

/// Real lines by themselves need the filter as far as half of them reaches to one side.
void FftPlan::makeChirp(bool isReal) {
  int64_t padded = paddedSize(2 * size_ - 1), reach = size_;
  if (padded >= kShortLine) {
    reach = isReal ? size_ / 2 + 1 : size_;
    padded = paddedSize(std::max(kShortLine, size_ + reach - 1));
    inner_ = std::make_unique<FftPlan>(type_, padded, FftLines{false, 1});
  } else {
    inner_ = std::make_unique<FftPlan>(DType::F64, padded);
  }
  std::vector<double> chirp(static_cast<size_t>(2 * size_));
  std::vector<double> wave(static_cast<size_t>(2 * padded)), filter(wave.size());
  for (int64_t i = 0, square = 0; i < size_; ++i) { // square is i * i modulo 2 * size
    double *root = &chirp[static_cast<size_t>(2 * i)];
    rootOf(square, 2 * size_, root);
    for (int64_t at : {i < reach ? i : padded - i, (padded - i) % padded}) {
      wave[static_cast<size_t>(2 * at)] = root[0] / static_cast<double>(padded);
      wave[static_cast<size_t>(2 * at + 1)] = -root[1] / static_cast<double>(padded);
    }
    square = (square + 2 * i + 1) % (2 * size_);
  }
  FftPlan plan(DType::F64, padded);
  ThreadPool alone(1);
  fft({alone, Isa::Baseline}, {&plan, false, 1, 1, wave.data(), false, false, filter.data(), false, padded});
  auto keep = [&](const std::vector<double> &numbers, Numbers &kept) {
    if (inner_->type() == DType::F64)
      kept.doubles = numbers;
    else
      kept.floats.assign(numbers.begin(), numbers.end());
  };
  keep(chirp, chirp_);
  keep(filter, filter_);
}

void fft(const Context &context, const FftArgs &args) {
  if (args.outer * args.inner == 0)
    return;
  args.plan->type() == DType::F64 ? transformAll<double>(context, args) : transformAll<float>(context, args);
}

} // namespace torchere::cpu
