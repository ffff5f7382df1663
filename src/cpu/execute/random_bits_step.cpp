// Implements RandomBitsStep.
#include "cpu/execute/random_bits_step.h"

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

} // namespace torchere::cpu
