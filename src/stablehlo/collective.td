// Communication among the processes that run the same program.
#ifndef TORCHERE_STABLEHLO_COLLECTIVE
#define TORCHERE_STABLEHLO_COLLECTIVE

include "op_base.td"

def StableHLO_DimensionAttr : ConfinedAttr<I64Attr, [IntNonNegative]>;

def StableHLO_AllGatherOp : StableHLO_VerifiedOp<"all_gather"> {
  let summary = "the operands of a group's processes, joined along one dimension";
  let arguments = (ins Variadic<StableHLO_Tensor>:$operands, StableHLO_DimensionAttr:$all_gather_dim,
    StableHLO_ReplicaGroupsAttr:$replica_groups, OptionalAttr<StableHLO_ChannelHandleAttr>:$channel_handle,
    UnitAttr:$use_global_device_ids);
  let results = (outs Variadic<StableHLO_Tensor>);
}

def StableHLO_AllReduceOp : StableHLO_VerifiedOp<"all_reduce", [StableHLO_InfersTypes]> {
  let summary = "the operands of a group's processes, combined by a computation";
  let arguments = (ins Variadic<StableHLO_Tensor>:$operands, StableHLO_ReplicaGroupsAttr:$replica_groups,
    OptionalAttr<StableHLO_ChannelHandleAttr>:$channel_handle, UnitAttr:$use_global_device_ids);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs Variadic<StableHLO_Tensor>);
}

def StableHLO_AllToAllOp : StableHLO_Op<"all_to_all", [StableHLO_InfersTypes]> {
  let summary = "each process's operand split into parts, one for each process of the group";
  let arguments = (ins Variadic<StableHLO_Tensor>:$operands, StableHLO_DimensionAttr:$split_dimension,
    StableHLO_DimensionAttr:$concat_dimension, ConfinedAttr<I64Attr, [IntPositive]>:$split_count,
    StableHLO_ReplicaGroupsAttr:$replica_groups, OptionalAttr<StableHLO_ChannelHandleAttr>:$channel_handle);
  let results = (outs Variadic<StableHLO_Tensor>);
}

// With has_dynamic_root, the last operand is a vector with the place of each other operand's root in its group.
def StableHLO_CollectiveBroadcastOp : StableHLO_VerifiedOp<"collective_broadcast", [StableHLO_InfersBaselines]> {
  let summary = "the operands of a group's root: its first process, or one that the program computes";
  let arguments = (ins Variadic<StableHLO_Tensor>:$operands, StableHLO_ReplicaGroupsAttr:$replica_groups,
    OptionalAttr<StableHLO_ChannelHandleAttr>:$channel_handle, UnitAttr:$has_dynamic_root);
  let results = (outs Variadic<StableHLO_Tensor>);
}

def StableHLO_CollectiveReduceOp : StableHLO_VerifiedOp<"collective_reduce", [StableHLO_InfersTypes]> {
  let summary = "the operands of a group's processes, combined by a computation, at its root; zeros elsewhere";
  let arguments = (ins Variadic<StableHLO_Tensor>:$operands, StableHLO_ReplicaGroupsAttr:$replica_groups,
    OptionalAttr<StableHLO_ChannelHandleAttr>:$channel_handle, UnitAttr:$use_global_device_ids,
    UnitAttr:$has_dynamic_root);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs Variadic<StableHLO_Tensor>);
}

def StableHLO_CollectivePermuteOp
    : StableHLO_VerifiedOp<"collective_permute", [StableHLO_CompatibleOperandsAndResult]> {
  let summary = "the operand of the process that sends to this one; zeros if none does";
  let arguments = (ins StableHLO_Tensor:$operand, I64ElementsAttr:$source_target_pairs,
    OptionalAttr<StableHLO_ChannelHandleAttr>:$channel_handle);
  let results = (outs StableHLO_Tensor);
}

// Not in the specification, which has all_reduce in its place.
def StableHLO_CrossReplicaSumOp
    : StableHLO_Op<"cross-replica-sum", [StableHLO_CompatibleOperandsAndResult]> {
  let summary = "the sum of the operands of a group's replicas";
  let arguments = (ins StableHLO_Tensor:$operand, I64ElementsAttr:$replica_groups);
  let results = (outs StableHLO_Tensor);
}

def StableHLO_ReduceScatterOp : StableHLO_VerifiedOp<"reduce_scatter"> {
  let summary = "the operands of a group's processes, combined by a computation, one part for each process";
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_DimensionAttr:$scatter_dimension,
    StableHLO_ReplicaGroupsAttr:$replica_groups, OptionalAttr<StableHLO_ChannelHandleAttr>:$channel_handle,
    UnitAttr:$use_global_device_ids);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs StableHLO_Tensor);
}

class StableHLO_ProcessIdOp<string mnemonic, string text>
    : StableHLO_Op<mnemonic, [Pure, StableHLO_InfersTypes]> {
  let summary = text;
  let results = (outs RankedTensorOf<[UI32]>);
  let assemblyFormat = "attr-dict `:` type(results)";
}

def StableHLO_PartitionIdOp : StableHLO_ProcessIdOp<"partition_id", "number of this process's partition">;
def StableHLO_ReplicaIdOp : StableHLO_ProcessIdOp<"replica_id", "number of this process's replica">;

#endif
