// Random numbers, and the layers that draw them.
#include "lowering/random.h"

#include "lowering/elements.h"
#include "lowering/elementwise.h"
#include "lowering/extreme.h"
#include "lowering/op_table.h"
#include "lowering/region.h"
#include "lowering/scan.h"
#include "lowering/sorting.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace torchere::lowering {

namespace {

using Direction = stablehlo::ComparisonDirection;

using Draw = Result<mlir::Value> (*)(Context &, DType, llvm::ArrayRef<Dim>);

/// Numbers of the result's shape and its dtype, or float32 where that is a half; complex ones of two that are
/// drawn.
Result<Elements> numbersOf(Context &cx, Draw draw) {
  const TensorType &type = cx.resultType();
  if (!dtypeInfo(type.dtype).isComplex) {
    TORCHERE_ASSIGN(mlir::Value drawn, draw(cx, type.dtype, type.shape));
    return Elements(cx, drawn);
  }
  Dims both = type.shape;
  both.insert(both.begin(), Dim(2));
  TORCHERE_ASSIGN(mlir::Value drawn, draw(cx, partType(type.dtype), both));
  Values parts;
  for (int64_t index : {0, 1})
    parts.push_back(cx.reshape(cx.sliceAxis(drawn, 0, index, index + 1), type.shape));
  return Elements(cx,
                  cx.withShape(cx.create<stablehlo::ComplexOp>(cx.tensorType(type.shape, type.dtype), parts),
                               type.shape));
}

mlir::Value toResult(Context &cx, const Elements &numbers) {
  return cx.convert(numbers, cx.resultType().dtype);
}

Result<mlir::Value> standardUniform(Context &cx, const Args &) {
  TORCHERE_ASSIGN(Elements numbers, numbersOf(cx, uniformNumbers));
  return toResult(cx, numbers);
}

/// From [from, to): what rounds to `to` becomes `from`.
Result<mlir::Value> uniformBetween(Context &cx, double from, double to) {
  if (!(from <= to))
    return cx.invalid("empty range: got {} to {}", from, to);
  TORCHERE_ASSIGN(Elements numbers, numbersOf(cx, uniformNumbers));
  if (from == 0.0)
    return toResult(cx, numbers * to);
  Elements result(cx, toResult(cx, numbers * (to - from) + from));
  if (dtypeInfo(cx.resultType().dtype).isComplex)
    return result;
  return (result < to).select(result, from);
}

Result<mlir::Value> uniform(Context &cx, const Args &args) {
  return uniformBetween(cx, args.floating("from"), args.floating("to"));
}

/// Complex numbers have the variance 1 as well: 1/2 for each part.
Result<Elements> normalNumbersOf(Context &cx) {
  TORCHERE_ASSIGN(Elements numbers, numbersOf(cx, normalNumbers));
  return dtypeInfo(cx.resultType().dtype).isComplex ? numbers * std::numbers::sqrt2 * 0.5 : numbers;
}

Result<mlir::Value> standardNormal(Context &cx, const Args &) {
  TORCHERE_ASSIGN(Elements numbers, normalNumbersOf(cx));
  return toResult(cx, numbers);
}

/// A float of the call, or a tensor that is broadcast.
Elements operandLike(Context &cx, const Args &args, std::string_view name, const Elements &like) {
  if (args.isTensor(name))
    return like.with(toResultShape(cx, args.tensor(name), Context::dtype(like)));
  return like.constant(args.floating(name));
}

Result<Elements> givenNormal(Context &cx, const Args &args) {
  TORCHERE_ASSIGN(Elements numbers, normalNumbersOf(cx));
  return numbers * operandLike(cx, args, "std", numbers) + operandLike(cx, args, "mean", numbers);
}

Result<mlir::Value> normal(Context &cx, const Args &args) {
  TORCHERE_ASSIGN(Elements numbers, givenNormal(cx, args));
  return toResult(cx, numbers);
}

Result<mlir::Value> logNormal(Context &cx, const Args &args) {
  TORCHERE_ASSIGN(Elements numbers, givenNormal(cx, args));
  return toResult(cx, exp(numbers));
}

Result<mlir::Value> exponential(Context &cx, const Args &args) {
  TORCHERE_ASSIGN(Elements numbers, numbersOf(cx, exponentialNumbers));
  return toResult(cx, numbers / args.floating("lambd"));
}

/// A cotangent of an angle between 0 and a quarter of a turn, with a random sign: the angles near 0, which
/// give the largest numbers, are the ones that have the most bits.
Result<mlir::Value> cauchy(Context &cx, const Args &args) {
  const TensorType &type = cx.resultType();
  TORCHERE_ASSIGN(Elements numbers, numbersOf(cx, positiveNumbers));
  TORCHERE_ASSIGN(mlir::Value sign, trials(cx, type.shape, 0.5));
  Elements angle = numbers * (0.5 * std::numbers::pi);
  Elements magnitude = cosine(angle) / sine(angle);
  Elements signedNumbers = Elements(cx, sign).select(magnitude, -magnitude);
  return toResult(cx, signedNumbers * args.floating("sigma") + args.floating("median"));
}

/// How often to try until the first success, of probability p. In float64 for integers, which may be large.
Result<mlir::Value> geometric(Context &cx, const Args &args) {
  const TensorType &type = cx.resultType();
  DType dtype = dtypeInfo(type.dtype).isFloatingPoint ? type.dtype : DType::F64;
  TORCHERE_ASSIGN(mlir::Value drawn, positiveNumbers(cx, dtype, type.shape));
  Elements tries = log(Elements(cx, drawn)) / std::log1p(-args.floating("p"));
  return toResult(cx, maximum(tries.apply<stablehlo::CeilOp>(), 1.0));
}

/// Integers from `low` on, of which there are `count`, both 0-d i64. The remainder of 64 bits favours none by
/// more than count / 2^64.
Result<mlir::Value> integersFrom(Context &cx, mlir::Value low, mlir::Value count) {
  const TensorType &type = cx.resultType();
  TORCHERE_ASSIGN(mlir::Value bits, randomBlocks(cx, cx.product(type.shape)));
  mlir::Value divisor = cx.broadcastTo(bitcast(cx, count, DType::U64), cx.shape(bits));
  mlir::Value integers = bitcast(cx, cx.elementwise<stablehlo::RemOp>({bits, divisor}), DType::I64);
  integers = cx.elementwise<stablehlo::AddOp>({integers, cx.broadcastTo(low, cx.shape(integers))});
  return cx.reshape(cx.convert(integers, type.dtype), type.shape);
}

Result<mlir::Value> randint(Context &cx, const Args &args) {
  mlir::Value low = cx.sizeTensor(args.has("low") ? args.dim("low") : Dim(0));
  mlir::Value high = cx.sizeTensor(args.dim("high"));
  return integersFrom(cx, low, cx.elementwise<stablehlo::SubtractOp>({high, low}));
}

/// The greatest integer that random_() gives in a dtype: of floats, up to which they hold all.
int64_t greatestOf(DType dtype) {
  const DTypeInfo &info = dtypeInfo(dtype);
  if (info.isFloatingPoint)
    return int64_t{1} << mantissaBits(dtype);
  if (dtype == DType::Bool)
    return 1;
  size_t bits = info.byteSize * 8 - (info.isSigned ? 1 : 0);
  return bits >= 63 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << bits) - 1;
}

Result<mlir::Value> integersOfDtype(Context &cx, const Args &args) {
  int64_t count = args.has("to") ? args.integer("to") : 0;
  if (args.has("to") && count <= 0)
    return cx.invalid("empty range: got 0 to {}", count);
  if (!args.has("to")) // 2^63 of them have the bits of a negative number
    count = static_cast<int64_t>(static_cast<uint64_t>(greatestOf(cx.resultType().dtype)) + 1);
  return integersFrom(cx, cx.constant(int64_t{0}, DType::I64), cx.constant(count, DType::I64));
}

/// The places 0 to n - 1 in the order of random numbers.
Result<mlir::Value> randperm(Context &cx, const Args &args) {
  Dim count = args.dim("n");
  TORCHERE_ASSIGN(mlir::Value order, randomBlocks(cx, count));
  mlir::Value places = cx.iota({count}, DType::I64, 0);
  Values sorted = sortTogether(cx, {order, places}, 0, [&](mlir::ValueRange elements) {
    return Values{cx.compare(Direction::LT, elements[0], elements[1])};
  });
  return cx.reshape(cx.convert(sorted[1], cx.resultType().dtype), cx.resultType().shape);
}

Result<mlir::Value> bernoulli(Context &cx, const Args &args) {
  double p = args.floating("p");
  if (!(p >= 0.0 && p <= 1.0))
    return cx.invalid("p is no probability: got {}, expected 0 to 1", p);
  TORCHERE_ASSIGN(mlir::Value drawn, trials(cx, cx.resultType().shape, p));
  return cx.convert(drawn, cx.resultType().dtype);
}

/// Probabilities that are known only in the call. 32 bits (64 for float64) are compared with them, rounded
/// towards 1 only where float32 is no finer.
Result<mlir::Value> bernoulliOf(Context &cx, const Args &args) {
  const TensorType &type = cx.resultType();
  mlir::Value given = args.tensor(args.has("p") ? "p" : "self");
  DType dtype = Context::dtype(given) == DType::F64 ? DType::F64 : DType::F32;
  Elements p(cx, toResultShape(cx, given, dtype));
  TORCHERE_ASSIGN(mlir::Value drawn, positiveNumbers(cx, dtype, type.shape));
  return cx.convert(Elements(cx, drawn) <= p, type.dtype);
}

/// A race: each category takes an exponential time, shorter by its weight, and wins as often as the weight
/// says. The first `samples` of one race are drawn without replacement.
Result<mlir::Value> drawByRace(Context &cx, mlir::Value weights, Dim samples) {
  Dims shape = cx.shape(weights);
  auto axis = static_cast<int64_t>(shape.size()) - 1;
  TORCHERE_ASSIGN(mlir::Value drawn, exponentialNumbers(cx, Context::dtype(weights), shape));
  Elements times = Elements(cx, drawn) / Elements(cx, weights);
  if (samples.is(1)) {
    mlir::Value none = cx.highest(Context::elementType(times));
    return extremeAlong<stablehlo::MinOp>(cx, times, none, axis).index;
  }
  Values sorted =
      sortTogether(cx, {times, cx.iota(shape, DType::I64, axis)}, axis, [&](mlir::ValueRange elements) {
        return Values{cx.compare(Direction::LT, elements[0], elements[1])};
      });
  return cx.sliceAxis(sorted[1], axis, 0, samples);
}

/// With replacement: among the running sums of the weights, where a part of their total falls. A weight of 0
/// has the sum before it, whichever way sums are rounded, so that nothing falls on it.
Result<mlir::Value> drawByParts(Context &cx, mlir::Value weights, Dim samples) {
  Dims shape = cx.shape(weights);
  auto axis = static_cast<int64_t>(shape.size()) - 1;
  mlir::Value zero = cx.constant(0.0, Context::dtype(weights));
  Elements sums(cx, runningFold<stablehlo::AddOp>(cx, weights, zero, axis));
  sums = (Elements(cx, weights) > 0.0).select(sums, 0.0);
  mlir::Value ends = runningFold<stablehlo::MaxOp>(cx, sums, zero, axis);
  mlir::Value total = cx.reduceWith<stablehlo::MaxOp>(ends, zero, {axis});
  shape.back() = samples;
  TORCHERE_ASSIGN(mlir::Value drawn, uniformNumbers(cx, Context::dtype(weights), shape));
  Integers rows(static_cast<size_t>(axis));
  std::iota(rows.begin(), rows.end(), 0);
  Elements parts = Elements(cx, drawn) * Elements(cx, cx.broadcastInDim(total, shape, rows));
  mlir::Value places = numberBefore(cx, ends, parts, true);
  mlir::Value last = cx.sizeTensor(cx.subtract(cx.size(weights, axis), Dim(1))); // of what has no sum, as NaN
  return cx.elementwise<stablehlo::MinOp>({places, cx.broadcastTo(last, shape)});
}

Result<mlir::Value> multinomial(Context &cx, const Args &args) {
  mlir::Value given = args.tensor("self");
  mlir::Value weights = cx.convert(given, computeType(Context::dtype(given)));
  Dim samples = args.dim("num_samples");
  bool isRace = !args.boolean("replacement") || samples.is(1);
  TORCHERE_ASSIGN(mlir::Value drawn,
                  isRace ? drawByRace(cx, weights, samples) : drawByParts(cx, weights, samples));
  return cx.reshape(drawn, cx.resultType().shape);
}

Result<mlir::Value> dropout(Context &cx, const Args &args) {
  mlir::Value input = args.tensor("input");
  if (!args.boolean("train") || args.floating("p") == 0.0)
    return input;
  TORCHERE_ASSIGN(Dropout dropped, dropOut(cx, input, args.floating("p")));
  return dropped.value;
}

/// Without a word on training it is training, as in eager mode.
Result<Values> nativeDropout(Context &cx, const Args &args) {
  mlir::Value input = args.tensor("input");
  bool isTraining = args.isNone("train") || args.boolean("train");
  if (!isTraining || args.floating("p") == 0.0)
    return Values{input, cx.full(true, DType::Bool, cx.shape(input))};
  TORCHERE_ASSIGN(Dropout dropped, dropOut(cx, input, args.floating("p")));
  return Values{dropped.value, dropped.kept};
}

mlir::Value nativeDropoutBackward(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  Elements gradient(cx, toResultShape(cx, args.tensor("grad_output"), dtype));
  return gradient * gradient.with(toResultShape(cx, args.tensor("mask"), dtype)) * args.floating("scale");
}

struct LeakyRelu {
  mlir::Value value;
  mlir::Value slopes; ///< 1 for positive elements
};

/// In training the slope of each negative element is drawn.
Result<LeakyRelu> randomLeakyRelu(Context &cx, const Args &args) {
  double lower = toDouble(args.scalar("lower")), upper = toDouble(args.scalar("upper"));
  Elements self(cx, args.tensor("self"));
  Elements isPositive = self > 0.0;
  if (!args.boolean("training"))
    return LeakyRelu{isPositive.select(self, self * ((lower + upper) / 2)), {}};
  TORCHERE_ASSIGN(mlir::Value drawn, uniformBetween(cx, lower, upper));
  Elements slopes = isPositive.select(1.0, self.with(drawn));
  return LeakyRelu{self * slopes, slopes};
}

Result<mlir::Value> rrelu(Context &cx, const Args &args) {
  TORCHERE_ASSIGN(LeakyRelu result, randomLeakyRelu(cx, args));
  return result.value;
}

Result<Values> rreluWithNoise(Context &cx, const Args &args) {
  TORCHERE_ASSIGN(LeakyRelu result, randomLeakyRelu(cx, args));
  return Values{result.value, result.slopes ? result.slopes : args.tensor("noise")};
}

} // namespace

#define TORCHERE_RANDOM_OPTIONS                                                                              \
  "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
#define TORCHERE_RANDOM_INTEGER_OPTIONS                                                                      \
  "ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
#define TORCHERE_RANDOM_LIKE_OPTIONS                                                                         \
  "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, "                \
  "MemoryFormat? memory_format=None) -> Tensor"
// torch calls these overloads where a call says generator=None; another generator is no argument of a
// program.
#define TORCHERE_ANY_GENERATOR "*, Generator? generator, "
#define TORCHERE_GENERATOR "*, Generator? generator=None"

static void addReals(OpTable &table) {
  table.add("aten::rand(SymInt[] size, *, " TORCHERE_RANDOM_OPTIONS, standardUniform);
  table.add("aten::rand.generator(SymInt[] size, " TORCHERE_ANY_GENERATOR TORCHERE_RANDOM_OPTIONS,
            standardUniform);
  table.add("aten::rand_like(Tensor self, *, " TORCHERE_RANDOM_LIKE_OPTIONS, standardUniform);
  table.add("aten::rand_like.generator(Tensor self, " TORCHERE_ANY_GENERATOR TORCHERE_RANDOM_LIKE_OPTIONS,
            standardUniform);
  table.add("aten::randn(SymInt[] size, *, " TORCHERE_RANDOM_OPTIONS, standardNormal);
  table.add("aten::randn.generator(SymInt[] size, " TORCHERE_ANY_GENERATOR TORCHERE_RANDOM_OPTIONS,
            standardNormal);
  table.add("aten::randn_like(Tensor self, *, " TORCHERE_RANDOM_LIKE_OPTIONS, standardNormal);
  table.add("aten::randn_like.generator(Tensor self, " TORCHERE_ANY_GENERATOR TORCHERE_RANDOM_LIKE_OPTIONS,
            standardNormal);
  // Of the forms in place (`uniform_`), the functional ones take of `self` its shape and dtype.
  table.add("aten::uniform(Tensor self, float from=0., float to=1., " TORCHERE_GENERATOR ") -> Tensor",
            uniform);
  table.add("aten::normal_functional(Tensor self, float mean=0., float std=1., " TORCHERE_GENERATOR
            ") -> Tensor",
            normal);
  table.add("aten::normal.Tensor_float(Tensor mean, float std=1., " TORCHERE_GENERATOR ") -> Tensor", normal);
  table.add("aten::normal.float_Tensor(float mean, Tensor std, " TORCHERE_GENERATOR ") -> Tensor", normal);
  table.add("aten::normal.Tensor_Tensor(Tensor mean, Tensor std, " TORCHERE_GENERATOR ") -> Tensor", normal);
  table.add("aten::normal.float_float(float mean, float std, SymInt[] size, " TORCHERE_GENERATOR
            ", " TORCHERE_RANDOM_OPTIONS,
            normal);
  table.add("aten::log_normal(Tensor self, float mean=1., float std=2., " TORCHERE_GENERATOR ") -> Tensor",
            logNormal);
  table.add("aten::exponential(Tensor self, float lambd=1., " TORCHERE_GENERATOR ") -> Tensor", exponential);
  table.add("aten::cauchy(Tensor self, float median=0., float sigma=1., " TORCHERE_GENERATOR ") -> Tensor",
            cauchy);
}

static void addIntegers(OpTable &table) {
  table.add("aten::randint(SymInt high, SymInt[] size, *, " TORCHERE_RANDOM_INTEGER_OPTIONS, randint);
  table.add("aten::randint.generator(SymInt high, SymInt[] size, " TORCHERE_ANY_GENERATOR
                TORCHERE_RANDOM_INTEGER_OPTIONS,
            randint);
  table.add("aten::randint.low(SymInt low, SymInt high, SymInt[] size, *, " TORCHERE_RANDOM_INTEGER_OPTIONS,
            randint);
  table.add("aten::randint.low_generator(SymInt low, SymInt high, SymInt[] size, " TORCHERE_ANY_GENERATOR
                TORCHERE_RANDOM_INTEGER_OPTIONS,
            randint);
  table.add("aten::randint_like(Tensor self, SymInt high, *, " TORCHERE_RANDOM_LIKE_OPTIONS, randint);
  table.add("aten::randint_like.generator(Tensor self, SymInt high, " TORCHERE_ANY_GENERATOR
                TORCHERE_RANDOM_LIKE_OPTIONS,
            randint);
  table.add(
      "aten::randint_like.low_dtype(Tensor self, SymInt low, SymInt high, *, " TORCHERE_RANDOM_LIKE_OPTIONS,
      randint);
  table.add(
      "aten::randint_like.low_generator_dtype(Tensor self, SymInt low, SymInt high, " TORCHERE_ANY_GENERATOR
          TORCHERE_RANDOM_LIKE_OPTIONS,
      randint);
  table.add("aten::randperm(SymInt n, *, " TORCHERE_RANDOM_INTEGER_OPTIONS, randperm);
  table.add("aten::randperm.generator(SymInt n, " TORCHERE_ANY_GENERATOR TORCHERE_RANDOM_INTEGER_OPTIONS,
            randperm);
  table.add("aten::random(Tensor self, " TORCHERE_GENERATOR ") -> Tensor", integersOfDtype);
  // random.from cannot be captured: torch writes `aten.random.from` into Python, whose keyword it is.
  table.add("aten::random.to(Tensor self, int to, " TORCHERE_GENERATOR ") -> Tensor", integersOfDtype);
  table.add("aten::geometric(Tensor self, float p, " TORCHERE_GENERATOR ") -> Tensor", geometric);
  table.add("aten::bernoulli(Tensor self, " TORCHERE_GENERATOR ") -> Tensor", bernoulliOf);
  table.add("aten::bernoulli.p(Tensor self, float p, " TORCHERE_GENERATOR ") -> Tensor", bernoulli);
  table.add("aten::bernoulli.Tensor(Tensor self, Tensor p, " TORCHERE_GENERATOR ") -> Tensor", bernoulliOf);
  table.add("aten::multinomial(Tensor self, SymInt num_samples, bool replacement=False, " TORCHERE_GENERATOR
            ") -> Tensor",
            multinomial);
}

#define TORCHERE_RRELU_OPTIONS                                                                               \
  "Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None"

static void addLayers(OpTable &table) {
  table.add("aten::dropout(Tensor input, float p, bool train) -> Tensor", dropout);
  table.add("aten::native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)", nativeDropout);
  table.add("aten::native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor",
            nativeDropoutBackward);
  table.add("aten::rrelu(Tensor self, " TORCHERE_RRELU_OPTIONS ") -> Tensor", rrelu);
  table.add("aten::rrelu_with_noise_functional(Tensor self, Tensor noise, " TORCHERE_RRELU_OPTIONS
            ") -> (Tensor, Tensor noise_out)",
            rreluWithNoise);
}

void addRandom(OpTable &table) {
  addReals(table);
  addIntegers(table);
  addLayers(table);
}

#undef TORCHERE_RANDOM_OPTIONS
#undef TORCHERE_RANDOM_INTEGER_OPTIONS
#undef TORCHERE_RANDOM_LIKE_OPTIONS
#undef TORCHERE_ANY_GENERATOR
#undef TORCHERE_GENERATOR
#undef TORCHERE_RRELU_OPTIONS

} // namespace torchere::lowering
