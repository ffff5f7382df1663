// Random numbers: Threefry in plain integer ops, and the distributions that are made of its blocks.
#include "lowering/random.h"

#include "lowering/elements.h"
#include "lowering/elementwise.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace torchere::lowering {

namespace {

constexpr int64_t lowHalf = 0xffffffff;

/// The low and the high half of ui64 as ui32. What is converted fits: StableHLO leaves open what else gives.
std::pair<Elements, Elements> halves(Context &cx, const Elements &value) {
  Elements low = both(value, value.constant(lowHalf));
  Elements high = value.apply<stablehlo::ShiftRightLogicalOp>(value.constant(int64_t{32}));
  return {{cx, cx.convert(low, DType::U32)}, {cx, cx.convert(high, DType::U32)}};
}

Elements rotateLeft(const Elements &word, int64_t bits) {
  return either(word.apply<stablehlo::ShiftLeftOp>(word.constant(bits)),
                word.apply<stablehlo::ShiftRightLogicalOp>(word.constant(32 - bits)));
}

/// What Threefry-2x32 of 20 rounds makes of two tensors of counter words.
std::pair<Elements, Elements> threefry(Context &cx, const Generator &generator, Elements x, Elements y) {
  constexpr std::array<int64_t, 8> rotations = {13, 15, 26, 6, 17, 29, 16, 24};
  Dims shape = cx.shape(x);
  auto keyWord = [&](int64_t injection, int64_t summand) {
    Elements word(cx, generator.key[injection % 3]);
    if (summand != 0)
      word = word + word.constant(summand);
    return Elements(cx, cx.broadcastTo(word, shape));
  };
  x = x + keyWord(0, 0);
  y = y + keyWord(1, 0);
  for (int64_t round = 0; round < 20; ++round) {
    x = x + y;
    y = rotateLeft(y, rotations[round % 8]).apply<stablehlo::XorOp>(x);
    if (int64_t injection = (round + 1) / 4; (round + 1) % 4 == 0) {
      x = x + keyWord(injection, 0);
      y = y + keyWord(injection + 1, injection);
    }
  }
  return {x, y};
}

/// The next blocks of the stream, by their low and high words.
Result<std::pair<Elements, Elements>> takeBlocks(Context &cx, Dim count) {
  if (count.is(0)) {
    Elements none(cx, cx.full(int64_t{0}, DType::U32, {count}));
    return std::pair(none, none);
  }
  std::optional<Generator> &generator = cx.generator();
  if (!generator)
    return cx.unimplemented("random numbers cannot be drawn in a composite or in the condition of a loop");
  mlir::Value first = nextBlock(cx, *generator);
  generator->taken = cx.add(generator->taken, count);
  generator->isUsed = true;
  Elements offset(cx, cx.broadcastTo(bitcast(cx, first, DType::U64), {count}));
  auto [low, high] = halves(cx, Elements(cx, cx.iota({count}, DType::U64, 0)) + offset);
  return threefry(cx, *generator, low, high);
}

/// The first `count` of two tensors of half as many elements, one after the other.
mlir::Value joined(Context &cx, mlir::Value first, mlir::Value second, Dim count) {
  return cx.sliceAxis(cx.concatenate({first, second}, 0), 0, 0, count);
}

Dim halfOf(Context &cx, Dim count) {
  return cx.floorDivide(cx.add(count, 1), 2);
}

/// As many bits as a real number of the dtype takes, ui64 for float64 and ui32 for the others.
Result<mlir::Value> randomBits(Context &cx, DType dtype, Dim count) {
  return dtype == DType::F64 ? randomBlocks(cx, count) : randomWords(cx, count);
}

/// The bits times a power of two, as real numbers.
Elements scaled(Context &cx, mlir::Value bits, DType dtype, int exponent) {
  return Elements(cx, cx.convert(bits, computeType(dtype))) * std::ldexp(1.0, exponent);
}

/// Uniform in (0, 1]: the middle of what each value of the bits stands for.
Elements positive(Context &cx, mlir::Value bits, DType dtype) {
  int width = dtype == DType::F64 ? 64 : 32;
  return scaled(cx, bits, dtype, -width) + std::ldexp(1.0, -width - 1);
}

} // namespace

mlir::Value bitcast(Context &cx, mlir::Value value, DType dtype) {
  Dims shape = cx.shape(value);
  return cx.withShape(cx.create<stablehlo::BitcastConvertOp>(cx.tensorType(shape, dtype), value), shape);
}

int mantissaBits(DType dtype) {
  return dtype == DType::F64 ? 53 : dtype == DType::F16 ? 11 : dtype == DType::BF16 ? 8 : 24;
}

Generator openGenerator(Context &cx, mlir::Value state) {
  mlir::Value seed = cx.reshape(cx.sliceAxis(state, 0, 0, 1), {});
  auto [low, high] = halves(cx, Elements(cx, bitcast(cx, seed, DType::U64)));
  Elements added =
      low.apply<stablehlo::XorOp>(high).apply<stablehlo::XorOp>(low.constant(int64_t{0x1bd11bda}));
  return {{low, high, added}, cx.reshape(cx.sliceAxis(state, 0, 1, 2), {})};
}

mlir::Value stateAfter(Context &cx, mlir::Value state, const Generator &generator) {
  return cx.concatenate({cx.sliceAxis(state, 0, 0, 1), cx.reshape(nextBlock(cx, generator), {Dim(1)})}, 0);
}

mlir::Value nextBlock(Context &cx, const Generator &generator) {
  return cx.sizeTensor(cx.add(Dim::computed(generator.first), generator.taken));
}

Result<mlir::Value> randomBlocks(Context &cx, Dim count) {
  TORCHERE_ASSIGN(auto words, takeBlocks(cx, count));
  Elements low(cx, cx.convert(words.first, DType::U64));
  Elements high(cx, cx.convert(words.second, DType::U64));
  return either(low, high.apply<stablehlo::ShiftLeftOp>(high.constant(int64_t{32})));
}

Result<mlir::Value> randomWords(Context &cx, Dim count) {
  TORCHERE_ASSIGN(auto words, takeBlocks(cx, halfOf(cx, count)));
  return joined(cx, words.first, words.second, count);
}

Result<mlir::Value> uniformNumbers(Context &cx, DType dtype, llvm::ArrayRef<Dim> shape) {
  TORCHERE_ASSIGN(mlir::Value drawn, randomBits(cx, dtype, cx.product(shape)));
  int width = dtype == DType::F64 ? 64 : 32;
  int digits = mantissaBits(dtype);
  Elements bits(cx, drawn);
  bits = bits.apply<stablehlo::ShiftRightLogicalOp>(bits.constant(int64_t{width - digits}));
  return cx.reshape(scaled(cx, bits, dtype, -digits), shape);
}

Result<mlir::Value> positiveNumbers(Context &cx, DType dtype, llvm::ArrayRef<Dim> shape) {
  TORCHERE_ASSIGN(mlir::Value bits, randomBits(cx, dtype, cx.product(shape)));
  return cx.reshape(positive(cx, bits, dtype), shape);
}

/// By Box and Muller: each pair of uniform numbers, as a radius and an angle, gives two normal ones.
Result<mlir::Value> normalNumbers(Context &cx, DType dtype, llvm::ArrayRef<Dim> shape) {
  Dim count = cx.product(shape), half = halfOf(cx, count), all = cx.add(half, half);
  TORCHERE_ASSIGN(mlir::Value bits, randomBits(cx, dtype, all));
  Elements radius = sqrt(-2.0 * log(positive(cx, cx.sliceAxis(bits, 0, 0, half), dtype)));
  int width = dtype == DType::F64 ? 64 : 32;
  Elements turn = scaled(cx, cx.sliceAxis(bits, 0, half, all), dtype, -width);
  Elements angle = turn * (2.0 * std::numbers::pi);
  return cx.reshape(joined(cx, radius * cosine(angle), radius * sine(angle), count), shape);
}

Result<mlir::Value> exponentialNumbers(Context &cx, DType dtype, llvm::ArrayRef<Dim> shape) {
  TORCHERE_ASSIGN(mlir::Value drawn, positiveNumbers(cx, dtype, shape));
  // What rounds to 1 would give 0.
  double least = dtype == DType::F64 ? std::ldexp(1.0, -53) : std::ldexp(1.0, -24);
  return maximum(-log(Elements(cx, drawn)), least);
}

Result<mlir::Value> trials(Context &cx, llvm::ArrayRef<Dim> shape, double probability) {
  if (probability <= 0.0 || probability >= 1.0)
    return cx.full(probability >= 1.0, DType::Bool, shape);
  TORCHERE_ASSIGN(mlir::Value drawn, randomWords(cx, cx.product(shape)));
  Elements words(cx, drawn);
  int64_t bound = std::min<int64_t>(std::llround(std::ldexp(probability, 32)), lowHalf);
  return cx.reshape(words.compare(stablehlo::ComparisonDirection::LT, words.constant(bound)), shape);
}

Result<Dropout> dropOut(Context &cx, mlir::Value value, double p) {
  if (!(p >= 0.0 && p <= 1.0))
    return cx.invalid("p is no probability: got {}, expected 0 to 1", p);
  DType dtype = Context::dtype(value);
  Dims shape = cx.shape(value);
  TORCHERE_ASSIGN(mlir::Value kept, trials(cx, shape, 1.0 - p));
  Elements mask(cx, cx.convert(kept, computeType(dtype)));
  Elements result = Elements(cx, cx.convert(value, computeType(dtype))) * mask;
  if (p != 1.0)
    result = result * (1.0 / (1.0 - p));
  return Dropout{cx.convert(result, dtype), kept};
}

} // namespace torchere::lowering
