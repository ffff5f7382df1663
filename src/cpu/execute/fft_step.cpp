// Implements FftStep: a pass over each dimension, the first from the input, the others where the result lies.
#include "cpu/execute/fft_step.h"

#include "cpu/plan/limits.h"

namespace torchere::cpu {

FftStep::FftStep(FftKind kind, Sizes lengths, const View &input, const View &result, const View &between)
    : kind(kind), lengths(std::move(lengths)), input(input), result(result), between(between) {
  derive();
}

void FftStep::derive() {
  size_t last = result.shape.size() - 1, first = result.shape.size() - lengths.size();
  bool isRealInverse = kind == FftKind::RealInverse;
  const View &place = isRealInverse ? between : result;
  const View *from = &input;
  if (!isRealInverse) {
    addPass(last, *from, place);
    from = &place;
  }
  for (size_t dimension = first; dimension < last; ++dimension) {
    addPass(dimension, *from, place);
    from = &place;
  }
  if (isRealInverse)
    addPass(last, *from, result);
}

void FftStep::addPass(size_t dimension, const View &from, const View &to) {
  bool isLast = dimension + 1 == to.shape.size();
  bool isReal = isLast && kind == FftKind::RealForward, isHalf = isLast && kind == FftKind::RealInverse;
  int64_t size = isReal ? from.shape[dimension] : to.shape[dimension];
  DType part = partType(from.type) == ElementType::F64 ? DType::F64 : DType::F32;
  std::span<const int64_t> shape(to.shape);
  int64_t outer = elementCount(shape.first(dimension)), inner = elementCount(shape.subspan(dimension + 1));
  FftLines lines{isReal || isHalf, inner == 1 ? outer : 0};
  auto pass = std::make_unique<Pass>(Pass{FftPlan(part, size, lines), {}, from, to});
  FftArgs &args = pass->args;
  args.plan = &pass->plan;
  args.isInverse = kind == FftKind::Inverse || kind == FftKind::RealInverse;
  args.outer = outer;
  args.inner = inner;
  args.isInputReal = isReal;
  args.isInputHalf = isHalf;
  args.isOutputReal = isHalf;
  args.outputSize = to.shape[dimension];
  passes.push_back(std::move(pass));
}

Status FftStep::run(const Frame &frame) const {
  for (const std::unique_ptr<Pass> &pass : passes) {
    FftArgs args = pass->args;
    args.input = frame.at(pass->from);
    args.output = frame.at(pass->to);
    fft(frame.context, args);
  }
  return {};
}

Status FftStep::verify(const PlanLimits &limits) const {
  bool isRealForward = kind == FftKind::RealForward, isRealInverse = kind == FftKind::RealInverse;
  ElementType number = isRealForward ? result.type : input.type;
  TORCHERE_TRY(expect(isComplex(number), "a transform of {}", elementTypeInfo(number).name));
  DType whole = *elementTypeInfo(number).dtype, part = *elementTypeInfo(partType(number)).dtype;
  size_t rank = result.shape.size();
  TORCHERE_TRY(
      expect(!lengths.empty() && lengths.size() <= rank, "dimensions: got {} of {}", lengths.size(), rank));
  int64_t count = boundedProduct(input.shape);
  TORCHERE_TRY(expect(count > 0 && boundedProduct(result.shape) > 0, "a transform of nothing"));
  TORCHERE_TRY(limits.readsDense(input, isRealForward ? part : whole, count));
  TORCHERE_TRY(limits.writesDense(result, isRealInverse ? part : whole, boundedProduct(result.shape)));
  Sizes expected = input.shape;
  TORCHERE_TRY(expectEqual("dimensions", expected.size(), rank));
  if (isRealForward)
    expected.back() = input.shape.back() / 2 + 1;
  if (isRealInverse) {
    expected.back() = result.shape.back();
    TORCHERE_TRY(expectEqual("numbers of a line", input.shape.back(), result.shape.back() / 2 + 1));
  }
  TORCHERE_TRY(expectShape("the result", result.shape, expected));
  if (!isRealInverse || lengths.size() == 1)
    return {};
  TORCHERE_TRY(expectShape("what lies between", between.shape, input.shape));
  return limits.writesDense(between, whole, count);
}

Status FftStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(verify(limits));
  derive();
  return {};
}

} // namespace torchere::cpu
