// Plans Fourier transforms.
#include "cpu/execute/fft_step.h"
#include "cpu/frontend/planner.h"
#include "stablehlo/dialect.h"

using namespace mlir;

namespace torchere::cpu {

static FftKind kindOf(stablehlo::FftType type) {
  switch (type) {
  case stablehlo::FftType::FFT:
    return FftKind::Forward;
  case stablehlo::FftType::IFFT:
    return FftKind::Inverse;
  case stablehlo::FftType::RFFT:
    return FftKind::RealForward;
  case stablehlo::FftType::IRFFT:
    break;
  }
  return FftKind::RealInverse;
}

static Result<bool> planFft(Planner &planner, Operation *op) {
  FftKind kind = kindOf(cast<stablehlo::FftTypeAttr>(op->getAttr("fft_type")).getValue());
  Sizes lengths = integersOf(op, "fft_length");
  if (elementCount(shapeOf(op->getOperand(0))) == 0 || elementCount(shapeOf(op->getResult(0))) == 0)
    return false;
  TORCHERE_ASSIGN(View input, planner.viewDense(op->getOperand(0)));
  if (lengths.empty()) {
    planner.bind(op->getResult(0), input);
    return true;
  }
  View result = planner.allocate(op->getResult(0));
  std::vector<View> reads{input}, writes{result};
  View between = input;
  if (kind == FftKind::RealInverse && lengths.size() > 1) {
    between = planner.allocate(input.type, input.shape);
    writes.push_back(between);
  }
  planner.emit(std::make_unique<FftStep>(kind, lengths, input, result, between), reads, writes);
  return true;
}

void addFourier(PlannerTable &table) {
  table.add("stablehlo.fft", planFft);
}

} // namespace torchere::cpu
