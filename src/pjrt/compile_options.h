// CompileOptions: what a plugin of ours reads of a CompileOptionsProto, and the message for a device
// assignment.
#pragma once

#include "base/error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace torchere::pjrt {

struct CompileOptions {
  int64_t replicaCount = 1;
  int64_t partitionCount = 1;
  /// The devices' ids by replica, then by partition; empty when the message assigns none.
  std::vector<int64_t> deviceIds;
  bool isPortable = false; ///< for any one device, which the execution names

  /// Reads the bytes of a CompileOptionsProto, which may be anybody's. Fields that are not among these are
  /// passed over: most tell XLA's compiler how to optimise. InvalidArgument for bytes that are no such
  /// message, for counts below 1 or of more than maxProcessCount, and for an assignment that does not fit
  /// them; Unimplemented for arguments in a tuple.
  static Result<CompileOptions> parse(std::string_view bytes);
};

/// Replicas times partitions, at most.
inline constexpr int64_t maxProcessCount = 1024;

/// The bytes of a DeviceAssignmentProto; `deviceIds` as in CompileOptions.
std::string serializeDeviceAssignment(int64_t replicaCount, int64_t partitionCount,
                                      const std::vector<int64_t> &deviceIds);

} // namespace torchere::pjrt
