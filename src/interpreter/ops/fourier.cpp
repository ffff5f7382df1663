// fft: discrete Fourier transforms over the last dimensions.
#include "base/memory_share.h"
#include "interpreter/call.h"
#include "stablehlo/dialect.h"

#include <cmath>
#include <numbers>

namespace torchere::interpreter {

namespace {

using Complex = std::complex<double>;
using Line = std::vector<Complex>;

/// The transform of a line: by halves if its length is even, otherwise by the definition.
Line transform(const Line &line, double direction) {
  size_t size = line.size();
  Line result(size);
  auto root = [&](size_t power) {
    return std::polar(1.0, direction * 2 * std::numbers::pi * static_cast<double>(power) /
                               static_cast<double>(size));
  };
  if (size % 2 != 0) {
    for (size_t out = 0; out < size; ++out)
      for (size_t in = 0; in < size; ++in)
        result[out] += line[in] * root(out * in % size);
    return result;
  }
  Line even, odd;
  for (size_t index = 0; index < size; index += 2) {
    even.push_back(line[index]);
    odd.push_back(line[index + 1]);
  }
  if (size > 2) {
    even = transform(even, direction);
    odd = transform(odd, direction);
  }
  for (size_t index = 0; index < size / 2; ++index) {
    Complex turned = odd[index] * root(index);
    result[index] = even[index] + turned;
    result[index + size / 2] = even[index] - turned;
  }
  return result;
}

/// Numbers with a shape, transformed along one dimension after another.
struct Grid {
  Index shape;
  Line numbers;

  /// Replaces each line along the dimension by `function` of it, which returns lines of length `size`.
  template <class Function> void mapLines(size_t dimension, int64_t size, Function function) {
    Grid result{shape, {}};
    result.shape[dimension] = size;
    result.numbers.resize(static_cast<size_t>(elementCount(result.shape)));
    Index lines = shape;
    lines[dimension] = 1;
    int64_t step = elementCount(IndexView(shape).subspan(dimension + 1));
    Line line(static_cast<size_t>(shape[dimension]));
    forEachIndex(lines, [&](IndexView index, int64_t) {
      int64_t first = flatten(index, shape), target = flatten(index, result.shape);
      for (size_t place = 0; place < line.size(); ++place)
        line[place] = numbers[static_cast<size_t>(first + static_cast<int64_t>(place) * step)];
      Line mapped = function(line);
      for (int64_t place = 0; place < size; ++place)
        result.numbers[static_cast<size_t>(target + place * step)] = mapped[static_cast<size_t>(place)];
    });
    *this = std::move(result);
  }
};

Line inverse(const Line &line) {
  Line result = transform(line, 1);
  for (Complex &number : result)
    number /= static_cast<double>(line.size());
  return result;
}

/// The full spectrum of a real line, given its first half. Imaginary parts that must be zero are ignored.
Line completeSpectrum(Line half, size_t size) {
  Line line(size);
  for (size_t index = 0; index < size; ++index)
    line[index] = index < half.size() ? half[index] : std::conj(half[size - index]);
  line[0] = line[0].real();
  if (size % 2 == 0)
    line[size / 2] = line[size / 2].real();
  return line;
}

void transformGrid(Grid &grid, stablehlo::FftType type, const Index &length) {
  size_t last = grid.shape.size() - 1, first = grid.shape.size() - length.size();
  auto forward = [](const Line &line) { return transform(line, -1); };
  if (type == stablehlo::FftType::RFFT)
    grid.mapLines(last, length.back() / 2 + 1, forward);
  bool isReal = type == stablehlo::FftType::RFFT || type == stablehlo::FftType::IRFFT;
  bool isForward = type == stablehlo::FftType::FFT || type == stablehlo::FftType::RFFT;
  for (size_t dimension = first; dimension < (isReal ? last : last + 1); ++dimension) {
    if (isForward)
      grid.mapLines(dimension, grid.shape[dimension], forward);
    else
      grid.mapLines(dimension, grid.shape[dimension], inverse);
  }
  if (type == stablehlo::FftType::IRFFT)
    grid.mapLines(last, length.back(), [&](const Line &half) {
      return inverse(completeSpectrum(half, static_cast<size_t>(length.back())));
    });
}

Result<Values> fft(const Call &call) {
  const Tensor &operand = call.operand(0);
  auto type = call.attribute<stablehlo::FftTypeAttr>("fft_type").getValue();
  Index length = call.integers("fft_length");
  TORCHERE_ASSIGN(ElementType element, call.resultType());
  TORCHERE_ASSIGN(MemoryShare share, MemoryShare::take(4 * operand.count(), sizeof(Complex)));
  Grid grid{operand.shape(), {}};
  for (int64_t position = 0; position < operand.count(); ++position)
    grid.numbers.push_back(operand.at(position).asComplex());
  if (operand.count() != 0)
    transformGrid(grid, type, length);
  else if (type == stablehlo::FftType::RFFT || type == stablehlo::FftType::IRFFT)
    grid.shape.back() =
        type == stablehlo::FftType::RFFT && length.back() != 0 ? length.back() / 2 + 1 : length.back();
  TORCHERE_ASSIGN(Tensor result, Tensor::create(element, grid.shape));
  for (int64_t position = 0; position < result.count() && operand.count() != 0; ++position) {
    Complex number = grid.numbers[static_cast<size_t>(position)];
    result.set(position, isComplex(element) ? Element::complex(element, number)
                                            : Element::number(element, number.real()));
  }
  return Values{std::move(result)};
}

} // namespace

void addFourier(EvaluationTable &table) {
  table.add("stablehlo.fft", fft);
}

} // namespace torchere::interpreter
