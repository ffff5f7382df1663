// Implements the checks of groups and pairs of processes.
#include "stablehlo/process_groups.h"

using namespace mlir;

namespace torchere::stablehlo {

static LogicalResult verifyMatrix(const Reporter &reporter, StringRef name, DenseIntElementsAttr ids) {
  if (ids.getType().getRank() == 2)
    return success();
  return reporter.violation("", name, " is ", ids.getType(), ", expected a matrix");
}

/// The ids of a matrix in row-major order. A splat, whose few bytes can claim any number of ids, gives at
/// most two rows of two, which violate every constraint that more would.
static SmallVector<int64_t> readIds(DenseIntElementsAttr matrix) {
  if (!matrix.isSplat())
    return SmallVector<int64_t>(matrix.getValues<int64_t>());
  size_t count = 1;
  for (int64_t size : matrix.getType().getShape())
    count *= std::min<int64_t>(size, 2);
  return SmallVector<int64_t>(count, matrix.getSplatValue<int64_t>());
}

LogicalResult ReplicaGroups::verifyIds(const Reporter &reporter, StringRef unique, StringRef range,
                                       bool hasAll) const {
  auto matrix = dyn_cast<DenseIntElementsAttr>(attribute);
  if (!matrix)
    return success(); // the attribute verifies itself
  if (failed(verifyMatrix(reporter, "replica_groups", matrix)))
    return failure();
  SmallVector<int64_t> ids = readIds(matrix);
  if (isPadded)
    llvm::erase(ids, -1);
  if (failed(reporter.unique(unique, "replica_groups", ids)))
    return failure();
  return hasAll ? reporter.inRange(range, "replica_groups", ids, ids.size())
                : reporter.atLeast(range, "replica_groups", ids, 0);
}

LogicalResult ReplicaGroups::verify(const Reporter &reporter, StringRef unique, StringRef range) const {
  return verifyIds(reporter, unique, range, /*hasAll=*/true);
}

LogicalResult ReplicaGroups::verifyPartial(const Reporter &reporter, StringRef unique,
                                           StringRef range) const {
  return verifyIds(reporter, unique, range, /*hasAll=*/false);
}

std::optional<int64_t> ReplicaGroups::groupSize() const {
  if (auto axes = dyn_cast<ReplicaGroupMeshAxesAttr>(attribute))
    return axes.getGroupSize();
  auto matrix = cast<DenseIntElementsAttr>(attribute);
  if (matrix.empty() || matrix.getType().getRank() != 2)
    return {};
  return matrix.getType().getDimSize(1);
}

LogicalResult verifyMesh(Operation *op, Attribute replicaGroups) {
  auto axes = dyn_cast<ReplicaGroupMeshAxesAttr>(replicaGroups);
  SymbolTableCollection symbols;
  return axes ? axes.verifySymbolUses(op, symbols) : success();
}

LogicalResult verifyGlobalDeviceIds(const Reporter &reporter, StringRef constraint, ChannelHandleAttr channel,
                                    bool useGlobalDeviceIds) {
  int64_t id = channel ? channel.getHandle() : 0;
  if (!useGlobalDeviceIds || id > 0)
    return success();
  return reporter.violation(constraint, "use_global_device_ids needs a positive channel id, got ", id);
}

LogicalResult verifySourceTargetPairs(const Reporter &reporter, DenseIntElementsAttr pairs) {
  if (failed(verifyMatrix(reporter, "source_target_pairs", pairs)))
    return failure();
  if (int64_t columns = pairs.getType().getDimSize(1); columns != 2)
    return reporter.violation("C1", "source_target_pairs has ", columns, " columns, expected 2");
  SmallVector<int64_t> sources, targets;
  for (auto [index, id] : llvm::enumerate(readIds(pairs)))
    (index % 2 == 0 ? sources : targets).push_back(id);
  return failure(failed(reporter.unique("C2", "sources of source_target_pairs", sources)) ||
                 failed(reporter.unique("C3", "targets of source_target_pairs", targets)) ||
                 failed(reporter.atLeast("C4", "source_target_pairs", sources, 0)) ||
                 failed(reporter.atLeast("C4", "source_target_pairs", targets, 0)));
}

} // namespace torchere::stablehlo
