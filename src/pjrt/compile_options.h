// CompileOptions: the parts of a CompileOptionsProto that a plugin of ours reads, and the message for a
// device assignment.
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
  /// The devices' ids by replica, then by partition; empty if the message assigns none.
  std::vector<int64_t> deviceIds;
  bool isPortable = false; ///< for any one device, chosen at execution

  /// Parses the bytes of a CompileOptionsProto, which are not trusted. Other fields are ignored: most
  /// configure XLA's optimizer. InvalidArgument for bytes that are not such a message, for counts below 1 or
  /// above maxProcessCount, and for an assignment that does not match them; Unimplemented for arguments in a
  /// tuple.
  static Result<CompileOptions> parse(std::string_view bytes);
};

/// The maximum of replicas times partitions.
inline constexpr int64_t maxProcessCount = 1024;

/// The bytes of a DeviceAssignmentProto; `deviceIds` as in CompileOptions.
std::string serializeDeviceAssignment(int64_t replicaCount, int64_t partitionCount,
                                      const std::vector<int64_t> &deviceIds);

} // namespace torchere::pjrt
