// Implements ExchangeStep.
#include "cpu/execute/exchange_step.h"

#include "cpu/execute/rendezvous.h"
#include "cpu/plan/limits.h"

#include <algorithm>

namespace torchere::cpu {

static StridedCopy copyOf(const Exchange &exchange) {
  const View &part = exchange.part;
  return {part.shape, part.elementSize(), part.strides, rowMajorStrides(part.shape)};
}

ExchangeStep::ExchangeStep(Exchange given) : exchange(std::move(given)), copy(copyOf(exchange)) {}

Status ExchangeStep::run(const Frame &frame) const {
  if (!frame.rendezvous)
    return fail(ErrorCode::FailedPrecondition, "an exchange in a program of one process");
  const View &part = exchange.part;
  auto take = [&](Rendezvous::Given given) {
    std::byte *to = frame.at(exchange.result);
    for (size_t place : exchange.taken) {
      copy.run(frame.context, given[place] + (part.offset - exchange.given.offset) * part.elementSize(), to);
      to += elementCount(part.shape) * part.elementSize();
    }
  };
  int64_t bytes = elementCount(exchange.given.shape) * exchange.given.elementSize();
  return frame.rendezvous->meet(exchange.number, exchange.members, exchange.self,
                                {frame.at(exchange.given), bytes}, take);
}

/// What all members agree on is seen when they meet: see Rendezvous.
Status ExchangeStep::restore(const PlanLimits &limits) {
  const auto &[number, members, self, taken, given, part, result] = exchange;
  TORCHERE_TRY(limits.reads(given));
  TORCHERE_TRY(limits.reads(part));
  TORCHERE_TRY(limits.writes(result));
  TORCHERE_TRY(expect(isDense(given) && isDense(result), "an exchange of a view with gaps"));
  bool isSame = part.type == given.type && part.buffer == given.buffer && result.type == given.type;
  TORCHERE_TRY(expect(isSame, "a part that is exchanged: expected one of what is given"));
  int64_t last = part.offset, count = elementCount(part.shape);
  for (size_t i = 0; count > 0 && i < part.shape.size(); ++i) {
    TORCHERE_TRY(expectWithin("a stride of a part", {part.strides[i]}, 0, mostElements));
    last += (part.shape[i] - 1) * part.strides[i];
  }
  TORCHERE_TRY(
      expect(count == 0 || (part.offset >= given.offset && last < given.offset + elementCount(given.shape)),
             "a part that leaves what is given"));
  TORCHERE_TRY(
      expect(std::count(members.begin(), members.end(), self) == 1, "process {}: expected a member", self));
  for (size_t place : taken)
    TORCHERE_TRY(expect(place < members.size(), "member {}: expected one of {}", place, members.size()));
  int64_t mostTaken = count == 0 ? mostElements : elementCount(result.shape) / count;
  TORCHERE_TRY(expect(static_cast<int64_t>(taken.size()) <= mostTaken,
                      "parts that are exchanged: got {}, expected at most {}", taken.size(), mostTaken));
  copy = copyOf(exchange);
  return {};
}

} // namespace torchere::cpu
