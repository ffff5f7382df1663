// Ops between processes, of which there is one here: replica 0 of partition 0.
#include "interpreter/call.h"

#include <algorithm>

namespace torchere::interpreter {

namespace {

/// The ids of other processes in a list of groups; -1 fills groups up.
Status checkGroups(const Call &call) {
  for (int64_t id : call.integers("replica_groups"))
    if (id > 0)
      return fail(ErrorCode::Unimplemented, "replica_groups names process {}, but there is only process 0",
                  id);
  return {};
}

/// What a group of one process exchanges stays what it was.
Result<Values> keep(const Call &call) {
  TORCHERE_TRY(checkGroups(call));
  return call.values();
}

Result<Values> keepOrClear(const Call &call, bool isKept) {
  if (isKept)
    return call.values();
  const Tensor &operand = call.operand(0);
  TORCHERE_ASSIGN(Tensor zeros, Tensor::create(operand.type(), operand.shape()));
  return Values{std::move(zeros)};
}

/// A process that nobody sends to gets zeros.
Result<Values> permute(const Call &call) {
  Index pairs = call.integers("source_target_pairs");
  bool isKept = false;
  for (size_t pair = 0; pair + 1 < pairs.size(); pair += 2) {
    if (pairs[pair] > 0 || pairs[pair + 1] > 0)
      return fail(ErrorCode::Unimplemented,
                  "source_target_pairs names process {}, but there is only process 0",
                  std::max(pairs[pair], pairs[pair + 1]));
    isKept = true;
  }
  return keepOrClear(call, isKept);
}

Result<Values> broadcastFromFirst(const Call &call) {
  TORCHERE_TRY(checkGroups(call));
  return keepOrClear(call, llvm::is_contained(call.integers("replica_groups"), 0));
}

Result<Values> processId(const Call &) {
  return Values{Tensor::scalar(Element::integer(ElementType::U32, 0))};
}

/// Nobody is there to take the values.
Result<Values> discard(const Call &) {
  return Values{Token()};
}

Result<Values> wait(const Call &) {
  return fail(ErrorCode::Unimplemented, "nobody sends anything to the program");
}

} // namespace

void addCollective(EvaluationTable &table) {
  table.add("stablehlo.all_gather", keep);
  table.add("stablehlo.all_reduce", keep);
  table.add("stablehlo.all_to_all", keep);
  table.add("stablehlo.collective_broadcast", broadcastFromFirst);
  table.add("stablehlo.collective_permute", permute);
  table.add("stablehlo.cross-replica-sum", keep);
  table.add("stablehlo.infeed", wait);
  table.add("stablehlo.outfeed", discard);
  table.add("stablehlo.partition_id", processId);
  table.add("stablehlo.recv", wait);
  table.add("stablehlo.reduce_scatter", keep);
  table.add("stablehlo.replica_id", processId);
  table.add("stablehlo.send", discard);
}

} // namespace torchere::interpreter
