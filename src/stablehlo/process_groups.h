// Checks of the attributes by which communication ops name processes.
#pragma once

#include "stablehlo/constraint.h"
#include "stablehlo/dialect.h"

namespace torchere::stablehlo {

/// replica_groups: a matrix with a row for each group, or the axes of a mesh. No rows, or rows without
/// elements, are one group of all processes.
struct ReplicaGroups {
  mlir::Attribute attribute;
  bool isPadded = false; ///< whether -1 may fill up groups that are smaller than others

  /// Each process is in one group: ids are unique, and in the range of their number.
  llvm::LogicalResult verify(const Reporter &reporter, llvm::StringRef unique, llvm::StringRef range) const;
  /// As verify, for groups that need not hold every process.
  llvm::LogicalResult verifyPartial(const Reporter &reporter, llvm::StringRef unique,
                                    llvm::StringRef range) const;
  /// The number of ids in each group; nothing where the attribute does not tell.
  std::optional<int64_t> groupSize() const;

private:
  llvm::LogicalResult verifyIds(const Reporter &reporter, llvm::StringRef unique, llvm::StringRef range,
                                bool hasAll) const;
};

/// A mesh that replica_groups names is there.
llvm::LogicalResult verifyMesh(mlir::Operation *op, mlir::Attribute replicaGroups);

/// use_global_device_ids needs a channel.
llvm::LogicalResult verifyGlobalDeviceIds(const Reporter &reporter, llvm::StringRef constraint,
                                          ChannelHandleAttr channel, bool useGlobalDeviceIds);

/// source_target_pairs: rows of two, (C1), with unique sources, (C2), unique targets, (C3), and no negative
/// ids, (C4).
llvm::LogicalResult verifySourceTargetPairs(const Reporter &reporter, mlir::DenseIntElementsAttr pairs);

} // namespace torchere::stablehlo
