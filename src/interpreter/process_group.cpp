// Implements process groups and the exchange of values.
#include "interpreter/process_group.h"

#include "interpreter/evaluator.h"
#include "stablehlo/diagnostics.h"
#include "stablehlo/dialect.h"
#include "stablehlo/mesh_axes.h"

using namespace mlir;

namespace torchere::interpreter {

int64_t channelOf(const Call &call) {
  auto channel = call.attribute<stablehlo::ChannelHandleAttr>("channel_handle");
  return channel ? channel.getHandle() : 0;
}

Grouping groupingOfReduction(const Call &call) {
  if (channelOf(call) <= 0)
    return Grouping::CrossReplica;
  return call.attribute("use_global_device_ids") ? Grouping::FlattenedIds
                                                 : Grouping::CrossReplicaAndPartition;
}

Grouping groupingOfExchange(const Call &call) {
  return channelOf(call) > 0 ? Grouping::CrossPartition : Grouping::CrossReplica;
}

/// The number of ids.
static int64_t idCount(const ProcessGrid &grid, Grouping grouping) {
  switch (grouping) {
  case Grouping::CrossReplica:
  case Grouping::CrossReplicaAndPartition:
    return grid.replicas();
  case Grouping::CrossPartition:
    return grid.partitions();
  case Grouping::FlattenedIds:
    return grid.replicas() * grid.partitions();
  }
  return 0;
}

Result<std::vector<ProcessId>> processesOf(const Call &call, Grouping grouping, ArrayRef<int64_t> ids) {
  const ProcessGrid &grid = call.evaluator().grid();
  ProcessId self = call.evaluator().process();
  for (int64_t id : ids)
    if (id < 0 || id >= idCount(grid, grouping))
      return invalidArgument("no process {}: the program runs on {} replicas of {} partitions", id,
                             grid.replicas(), grid.partitions());
  std::vector<ProcessId> processes;
  switch (grouping) {
  case Grouping::CrossReplica:
    for (int64_t id : ids)
      processes.push_back({id, self.partition});
    break;
  case Grouping::CrossPartition:
    for (int64_t id : ids)
      processes.push_back({self.replica, id});
    break;
  case Grouping::CrossReplicaAndPartition:
    for (int64_t partition = 0; partition < grid.partitions(); ++partition)
      for (int64_t id : ids)
        processes.push_back({id, partition});
    break;
  case Grouping::FlattenedIds:
    for (int64_t id : ids)
      processes.push_back({id / grid.partitions(), id % grid.partitions()});
    break;
  }
  return processes;
}

/// The rows of replica_groups, without the padding of -1. Without any ids, all processes form one group.
static Result<std::vector<Index>> listRows(const Call &call, Grouping grouping) {
  Attribute attribute = call.attribute("replica_groups");
  if (auto axes = dyn_cast<stablehlo::ReplicaGroupMeshAxesAttr>(attribute)) {
    stablehlo::DiagnosticText diagnostics(*attribute.getContext());
    SymbolTableCollection symbols;
    FailureOr<DenseIntElementsAttr> listed = stablehlo::listGroups(call.operation(), axes, symbols);
    if (failed(listed))
      return invalidArgument("{}", diagnostics.take());
    attribute = *listed;
  }
  auto ids = cast<DenseIntElementsAttr>(attribute);
  std::vector<Index> rows;
  if (ids.empty()) {
    Index all;
    for (int64_t id = 0; id < idCount(call.evaluator().grid(), grouping); ++id)
      all.push_back(id);
    rows.push_back(std::move(all));
    return rows;
  }
  // A splat that passes the verifier and has more than one id is all padding.
  if (ids.isSplat() && ids.getSplatValue<APInt>().isAllOnes())
    return rows;
  int64_t length = ids.getType().getRank() == 0 ? 1 : ids.getType().getShape().back(), position = 0;
  for (const APInt &id : ids.getValues<APInt>()) {
    if (position++ % length == 0)
      rows.emplace_back();
    if (id.getSExtValue() != -1)
      rows.back().push_back(id.getSExtValue());
  }
  return rows;
}

Result<std::vector<ProcessId>> groupOf(const Call &call, Grouping grouping) {
  TORCHERE_ASSIGN(std::vector<Index> rows, listRows(call, grouping));
  for (const Index &row : rows) {
    TORCHERE_ASSIGN(std::vector<ProcessId> processes, processesOf(call, grouping, row));
    if (llvm::is_contained(processes, call.evaluator().process()))
      return processes;
  }
  return std::vector<ProcessId>();
}

Result<Ends> endsOf(const Call &call) {
  Index pairs = call.integers("source_target_pairs");
  ProcessId self = call.evaluator().process();
  Ends ends;
  for (size_t pair = 0; pair + 1 < pairs.size(); pair += 2) {
    TORCHERE_ASSIGN(std::vector<ProcessId> both,
                    processesOf(call, groupingOfExchange(call), {pairs[pair], pairs[pair + 1]}));
    if (both[0] == self)
      ends.receiver = both[1];
    if (both[1] == self)
      ends.sender = both[0];
  }
  return ends;
}

/// Identifies the values of one op and channel in one direction; a recv reads those of a send. All processes
/// reach them in the same order.
static std::string mailbox(const Call &call, ProcessId sender, ProcessId receiver) {
  StringRef op = call.operation()->getName().getStringRef();
  if (isa<stablehlo::RecvOp>(call.operation()))
    op = stablehlo::SendOp::getOperationName();
  return fmt::format("{} {} {}.{} {}.{}", op.str(), channelOf(call), sender.replica, sender.partition,
                     receiver.replica, receiver.partition);
}

void sendTo(const Call &call, ProcessId receiver, const Values &values) {
  call.evaluator().grid().send(mailbox(call, call.evaluator().process(), receiver), values);
}

Result<Values> receiveFrom(const Call &call, ProcessId sender) {
  return call.evaluator().grid().receive(mailbox(call, sender, call.evaluator().process()));
}

Result<std::vector<Values>> exchange(const Call &call, ArrayRef<ProcessId> group, const Values &values) {
  for (ProcessId receiver : group)
    sendTo(call, receiver, values);
  std::vector<Values> given;
  for (ProcessId sender : group) {
    TORCHERE_ASSIGN(Values received, receiveFrom(call, sender));
    auto isSame = [](auto pair) {
      const Tensor &theirs = std::get<0>(pair).tensor(), &own = std::get<1>(pair).tensor();
      return theirs.type() == own.type() && theirs.shape() == own.shape();
    };
    if (received.size() != values.size() || !llvm::all_of(llvm::zip(received, values), isSame))
      return invalidArgument("replica {} of partition {} gives operands of other types", sender.replica,
                             sender.partition);
    given.push_back(std::move(received));
  }
  return given;
}

} // namespace torchere::interpreter
