// The processes that take part in a collective op: the specification's section "Process groups".
#pragma once

#include "interpreter/call.h"
#include "interpreter/process_grid.h"

#include <optional>

namespace torchere::interpreter {

/// How ids in groups refer to processes.
enum class Grouping : uint8_t {
  CrossReplica,             ///< replicas, within the process's own partition
  CrossPartition,           ///< partitions, within its own replica
  CrossReplicaAndPartition, ///< replicas, across all partitions
  FlattenedIds,             ///< replica * number of partitions + partition
};

/// The op's channel_id; 0 if it has no channel.
int64_t channelOf(const Call &call);
/// all_gather, all_reduce, collective_reduce and reduce_scatter.
Grouping groupingOfReduction(const Call &call);
/// all_to_all, collective_broadcast, collective_permute, and send and recv with source_target_pairs.
Grouping groupingOfExchange(const Call &call);

/// The group of replica_groups that contains the process, in order; none if no group does. InvalidArgument
/// for ids that are not processes of the grid.
Result<std::vector<ProcessId>> groupOf(const Call &call, Grouping grouping);
/// The processes of one row of ids, from the point of view of the calling process.
Result<std::vector<ProcessId>> processesOf(const Call &call, Grouping grouping, llvm::ArrayRef<int64_t> ids);

/// Whom the process sends to and receives from, according to the op's source_target_pairs.
struct Ends {
  std::optional<ProcessId> receiver, sender;
};
Result<Ends> endsOf(const Call &call);

/// Each process of the group contributes `values` and receives those of all, in the group's order.
Result<std::vector<Values>> exchange(const Call &call, llvm::ArrayRef<ProcessId> group, const Values &values);
void sendTo(const Call &call, ProcessId receiver, const Values &values);
Result<Values> receiveFrom(const Call &call, ProcessId sender);

} // namespace torchere::interpreter
