// Implements RandomBitsStep.
#include "cpu/execute/random_bits_step.h"

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

} // namespace torchere::cpu
