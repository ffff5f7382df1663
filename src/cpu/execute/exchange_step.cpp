// Implements ExchangeStep.
#include "cpu/execute/exchange_step.h"

#include "cpu/execute/rendezvous.h"
#include "cpu/execute/strided_copy.h"

namespace torchere::cpu {

Status ExchangeStep::run(const Frame &frame) const {
  int width = exchange.part.elementSize();
  const Sizes &shape = exchange.part.shape;
  Sizes dense = rowMajorStrides(shape);
  auto take = [&](Rendezvous::Given given) {
    std::byte *to = frame.at(exchange.result);
    for (size_t place : exchange.taken) {
      const std::byte *from = given[place] + (exchange.part.offset - exchange.given.offset) * width;
      copyElements(frame.context, shape, width, from, exchange.part.strides, to, dense);
      to += elementCount(shape) * width;
    }
  };
  return frame.rendezvous->meet(exchange.number, exchange.members, exchange.self, frame.at(exchange.given),
                                take);
}

} // namespace torchere::cpu
