// Collective ops: the processes of a group exchange values.
#include "evaluation/rearrangement.h"
#include "interpreter/evaluator.h"
#include "interpreter/process_group.h"
#include "interpreter/reducer.h"

#include <algorithm>

namespace torchere::interpreter {

namespace {

using Group = std::vector<ProcessId>;

/// The group of a process, which must be in one.
Result<Group> ownGroup(const Call &call, Grouping grouping) {
  TORCHERE_ASSIGN(Group group, groupOf(call, grouping));
  ProcessId self = call.evaluator().process();
  if (group.empty())
    return invalidArgument("replica_groups does not have replica {} of partition {}", self.replica,
                           self.partition);
  return group;
}

int64_t placeIn(const Group &group, ProcessId process) {
  return std::find(group.begin(), group.end(), process) - group.begin();
}

/// The processes of the group exchange their operands. Each of the first `count` results is `make` of one
/// operand's tensors, in the group's order.
template <class Make>
Result<Values> exchangeEach(const Call &call, const Group &group, size_t count, Make make) {
  TORCHERE_ASSIGN(std::vector<Values> given, exchange(call, group, call.values()));
  Values results;
  for (size_t number = 0; number < count; ++number) {
    std::vector<Tensor> tensors;
    for (const Values &values : given)
      tensors.push_back(values[number].tensor());
    TORCHERE_ASSIGN(Tensor result, make(tensors));
    results.push_back(std::move(result));
  }
  return results;
}

Result<Values> allGather(const Call &call) {
  TORCHERE_ASSIGN(Group group, ownGroup(call, groupingOfReduction(call)));
  int64_t dimension = call.integer("all_gather_dim");
  return exchangeEach(call, group, call.operandCount(),
                      [&](const std::vector<Tensor> &tensors) { return concatenate(dimension, tensors); });
}

/// Combines the elements of all tensors at each position, starting with the first tensor, in the
/// computation's type.
Result<Tensor> combine(const Call &call, const std::vector<Tensor> &tensors) {
  Reducer computation(call, 0);
  TORCHERE_ASSIGN(std::vector<ElementType> types, computation.types());
  TORCHERE_ASSIGN(Tensor result, Tensor::create(types.front(), tensors.front().shape()));
  for (int64_t position = 0; position < result.count(); ++position) {
    Element value = convert(tensors.front().at(position), types.front());
    for (const Tensor &tensor : std::span(tensors).subspan(1)) {
      TORCHERE_ASSIGN(std::vector<Element> combined, computation.run(std::array{value, tensor.at(position)}));
      value = convert(combined.front(), types.front());
    }
    result.set(position, value);
  }
  return result;
}

Result<Values> allReduce(const Call &call) {
  TORCHERE_ASSIGN(Group group, ownGroup(call, groupingOfReduction(call)));
  return exchangeEach(call, group, call.operandCount(),
                      [&](const std::vector<Tensor> &tensors) { return combine(call, tensors); });
}

/// The slice of the sum along scatter_dimension that belongs to the process's place in the group.
Result<Values> reduceScatter(const Call &call) {
  TORCHERE_ASSIGN(Group group, ownGroup(call, groupingOfReduction(call)));
  int64_t dimension = call.integer("scatter_dimension"), parts = static_cast<int64_t>(group.size());
  int64_t place = placeIn(group, call.evaluator().process());
  return exchangeEach(call, group, 1, [&](const std::vector<Tensor> &tensors) -> Result<Tensor> {
    TORCHERE_ASSIGN(Tensor reduced, combine(call, tensors));
    int64_t size = reduced.shape()[dimension];
    if (size % parts != 0)
      return invalidArgument("dimension {} of size {} cannot be split among {} processes", dimension, size,
                             parts);
    return partAlong(dimension, reduced, place * (size / parts), size / parts);
  });
}

Result<Values> crossReplicaSum(const Call &call) {
  TORCHERE_ASSIGN(Group group, ownGroup(call, Grouping::CrossReplica));
  return exchangeEach(call, group, 1, [](const std::vector<Tensor> &tensors) -> Result<Tensor> {
    TORCHERE_ASSIGN(Tensor sum, tensors.front().clone());
    for (const Tensor &tensor : std::span(tensors).subspan(1))
      for (int64_t position = 0; position < sum.count(); ++position)
        sum.set(position, add(sum.at(position), tensor.at(position)));
    return sum;
  });
}

/// Concatenates the slices, one from each process, that belong to this process's place in the group.
Result<Values> allToAll(const Call &call) {
  TORCHERE_ASSIGN(Group group, ownGroup(call, groupingOfExchange(call)));
  int64_t count = call.integer("split_count"), split = call.integer("split_dimension");
  if (count != static_cast<int64_t>(group.size()))
    return invalidArgument("split_count is {} for a group of {} processes", count, group.size());
  int64_t place = placeIn(group, call.evaluator().process());
  return exchangeEach(call, group, call.operandCount(),
                      [&](const std::vector<Tensor> &tensors) -> Result<Tensor> {
                        std::vector<Tensor> parts;
                        for (const Tensor &whole : tensors) {
                          int64_t size = whole.shape()[split] / count;
                          TORCHERE_ASSIGN(Tensor part, partAlong(split, whole, place * size, size));
                          parts.push_back(std::move(part));
                        }
                        return concatenate(call.integer("concat_dimension"), parts);
                      });
}

Result<Tensor> zerosLike(const Tensor &tensor) {
  return Tensor::create(tensor.type(), tensor.shape());
}

/// For each operand that is communicated, the place of its root in the group.
Result<Index> rootsOf(const Call &call, int64_t groupSize) {
  if (!call.attribute("has_dynamic_root"))
    return Index(call.operandCount(), 0);
  Index roots = call.operand(call.operandCount() - 1).integers();
  for (int64_t root : roots)
    if (root < 0 || root >= groupSize)
      return invalidArgument("root {} of a group of {} processes", root, groupSize);
  return roots;
}

/// A process that is in no group gets zeros.
Result<Values> broadcastFromRoot(const Call &call) {
  TORCHERE_ASSIGN(Group group, groupOf(call, groupingOfExchange(call)));
  TORCHERE_ASSIGN(Index roots, rootsOf(call, group.empty() ? INT64_MAX : static_cast<int64_t>(group.size())));
  std::vector<Values> given;
  if (!group.empty()) {
    TORCHERE_ASSIGN(given, exchange(call, group, call.values()));
  }
  Values results;
  for (size_t number = 0; number < roots.size(); ++number) {
    if (!given.empty()) {
      results.push_back(given[static_cast<size_t>(roots[number])][number]);
      continue;
    }
    TORCHERE_ASSIGN(Tensor zeros, zerosLike(call.operand(number)));
    results.push_back(std::move(zeros));
  }
  return results;
}

/// Only roots get the sum; other processes get zeros.
Result<Values> reduceToRoot(const Call &call) {
  TORCHERE_ASSIGN(Group group, ownGroup(call, groupingOfReduction(call)));
  TORCHERE_ASSIGN(Index roots, rootsOf(call, static_cast<int64_t>(group.size())));
  TORCHERE_ASSIGN(Values results,
                  exchangeEach(call, group, roots.size(),
                               [&](const std::vector<Tensor> &tensors) { return combine(call, tensors); }));
  int64_t place = placeIn(group, call.evaluator().process());
  for (size_t number = 0; number < roots.size(); ++number)
    if (roots[number] != place) {
      TORCHERE_ASSIGN(results[number], zerosLike(results[number].tensor()));
    }
  return results;
}

/// A process that nobody sends to gets zeros.
Result<Values> permute(const Call &call) {
  TORCHERE_ASSIGN(Ends ends, endsOf(call));
  if (ends.receiver)
    sendTo(call, *ends.receiver, call.values());
  if (ends.sender)
    return receiveFrom(call, *ends.sender);
  TORCHERE_ASSIGN(Tensor zeros, zerosLike(call.operand(0)));
  return Values{std::move(zeros)};
}

Value idValue(int64_t id) {
  return Tensor::scalar(Element::integer(ElementType::U32, static_cast<uint64_t>(id)));
}

Result<Values> partitionId(const Call &call) {
  return Values{idValue(call.evaluator().process().partition)};
}

Result<Values> replicaId(const Call &call) {
  return Values{idValue(call.evaluator().process().replica)};
}

} // namespace

void addCollective(EvaluationTable &table) {
  table.add("stablehlo.all_gather", allGather);
  table.add("stablehlo.all_reduce", allReduce);
  table.add("stablehlo.all_to_all", allToAll);
  table.add("stablehlo.collective_broadcast", broadcastFromRoot);
  table.add("stablehlo.collective_permute", permute);
  table.add("stablehlo.collective_reduce", reduceToRoot);
  table.addComputation("stablehlo.cross-replica-sum", crossReplicaSum);
  table.add("stablehlo.partition_id", partitionId);
  table.add("stablehlo.reduce_scatter", reduceScatter);
  table.add("stablehlo.replica_id", replicaId);
}

} // namespace torchere::interpreter
