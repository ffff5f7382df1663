// The processes that take part in a collective op: the specification's section "Process groups".
#pragma once

#include "interpreter/call.h"
#include "interpreter/process_grid.h"

#include <optional>

namespace torchere::interpreter {

/// How ids in groups stand for processes.
enum class Grouping : uint8_t {
  CrossReplica,             ///< replicas, of the process's own partition
  CrossPartition,           ///< partitions, of its own replica
  CrossReplicaAndPartition, ///< replicas, of all partitions
  FlattenedIds,             ///< replica * number of partitions + partition
};

/// The op's channel_id; 0 when it has no channel.
int64_t channelOf(const Call &call);
/// all_gather, all_reduce, collective_reduce and reduce_scatter.
Grouping groupingOfReduction(const Call &call);
/// all_to_all, collective_broadcast, collective_permute, and send and recv with source_target_pairs.
Grouping groupingOfExchange(const Call &call);

/// The group of replica_groups that the process is in, in order; none when no group has it. InvalidArgument
/// for ids that are no process of the grid.
Result<std::vector<ProcessId>> groupOf(const Call &call, Grouping grouping);
/// The processes of one row of ids, as the process of the call sees them.
Result<std::vector<ProcessId>> processesOf(const Call &call, Grouping grouping, llvm::ArrayRef<int64_t> ids);

/// Whom the process sends to, and whom it receives from, by the op's source_target_pairs.
struct Ends {
  std::optional<ProcessId> receiver, sender;
};
Result<Ends> endsOf(const Call &call);

/// Each of the group's processes gives `values`, and gets what the others give, in the group's order.
Result<std::vector<Values>> exchange(const Call &call, llvm::ArrayRef<ProcessId> group, const Values &values);
void sendTo(const Call &call, ProcessId receiver, const Values &values);
Result<Values> receiveFrom(const Call &call, ProcessId sender);

} // namespace torchere::interpreter
