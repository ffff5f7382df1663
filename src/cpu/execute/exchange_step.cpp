// Implements ExchangeStep.
#include "cpu/execute/exchange_step.h"

#include "cpu/execute/rendezvous.h"

namespace torchere::cpu {

ExchangeStep::ExchangeStep(Exchange given)
    : exchange(std::move(given)), copy(exchange.part.shape, static_cast<int>(exchange.part.elementSize()),
                                       exchange.part.strides, rowMajorStrides(exchange.part.shape)) {}

Status ExchangeStep::run(const Frame &frame) const {
  const View &part = exchange.part;
  auto take = [&](Rendezvous::Given given) {
    std::byte *to = frame.at(exchange.result);
    for (size_t place : exchange.taken) {
      copy.run(frame.context, given[place] + (part.offset - exchange.given.offset) * part.elementSize(), to);
      to += elementCount(part.shape) * part.elementSize();
    }
  };
  return frame.rendezvous->meet(exchange.number, exchange.members, exchange.self, frame.at(exchange.given),
                                take);
}

} // namespace torchere::cpu
