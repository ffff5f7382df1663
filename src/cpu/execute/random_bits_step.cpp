// Implements RandomBitsStep.
#include "cpu/execute/random_bits_step.h"

#include "cpu/plan/limits.h"

#include <atomic>

namespace torchere::cpu {

Status RandomBitsStep::run(const Frame &frame) const {
  RandomBitsArgs args;
  args.algorithm = algorithm;
  args.state = reinterpret_cast<const uint64_t *>(frame.at(state));
  args.next = reinterpret_cast<uint64_t *>(frame.at(next));
  args.stateSize = static_cast<int>(state.shape[0]);
  args.bits = elementTypeInfo(result.type).bits;
  args.rank = static_cast<int>(result.shape.size());
  args.dims = result.shape.data();
  args.output = frame.at(result);
  randomBits(frame.context, args);
  return {};
}

Status RandomWordsStep::run(const Frame &frame) const {
  static std::atomic<uint64_t> runs = 0;
  uint64_t state[2] = {++runs, 0}, next[2];
  RandomBitsArgs args;
  args.algorithm = RandomAlgorithm::Philox;
  args.state = state;
  args.next = next;
  args.bits = elementTypeInfo(result.type).bits;
  args.rank = static_cast<int>(result.shape.size());
  args.dims = result.shape.data();
  args.output = frame.at(result);
  randomBits(frame.context, args);
  return {};
}

static Status writesWords(const PlanLimits &limits, const View &result) {
  TORCHERE_TRY(limits.writes(result));
  TORCHERE_TRY(expect(isDense(result), "random bits with gaps"));
  return expect(elementTypeInfo(result.type).bits <= 64, "random bits of {}",
                elementTypeInfo(result.type).name);
}

Status RandomBitsStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(limits.reads(state));
  TORCHERE_TRY(limits.writes(next));
  for (const View *each : {&state, &next}) {
    TORCHERE_TRY(expect(isInteger(each->type) && each->elementSize() == 8 && isDense(*each),
                        "the state of random bits: got {}", elementTypeInfo(each->type).name));
    TORCHERE_TRY(expect(each->shape == Sizes{2} || each->shape == Sizes{3},
                        "the state of random bits: expected two or three numbers"));
  }
  TORCHERE_TRY(expectShape("the state of random bits", next.shape, state.shape));
  return writesWords(limits, result);
}

Status RandomWordsStep::restore(const PlanLimits &limits) {
  return writesWords(limits, result);
}

} // namespace torchere::cpu
