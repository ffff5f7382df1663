// CompileOptions: its few protobuf fields, encoded by hand.
#include "runtime/compile_options.h"

namespace torchere::runtime {

// Field numbers of CompileOptionsProto, ExecutableBuildOptionsProto, DeviceAssignmentProto, map entries and
// OptionOverrideProto.
static constexpr uint32_t executableBuildOptionsField = 3;
static constexpr uint32_t environmentOptionOverridesField = 7;
static constexpr uint32_t mapKeyField = 1;
static constexpr uint32_t mapValueField = 2;
static constexpr uint32_t boolOverrideField = 2;
static constexpr uint32_t replicaCountField = 4;
static constexpr uint32_t partitionCountField = 5;
static constexpr uint32_t deviceAssignmentField = 9;
static constexpr uint32_t assignmentReplicaCountField = 1;
static constexpr uint32_t assignmentComputationCountField = 2;
static constexpr uint32_t assignmentComputationDevicesField = 3;
static constexpr uint32_t computationDeviceIdsField = 1;

static void appendVarint(std::string &out, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

static void appendInteger(std::string &out, uint32_t field, uint64_t value) {
  appendVarint(out, field << 3);
  appendVarint(out, value);
}

static void appendBytes(std::string &out, uint32_t field, const std::string &bytes) {
  appendVarint(out, field << 3 | 2);
  appendVarint(out, bytes.size());
  out += bytes;
}

std::string CompileOptions::serialize() const {
  std::string build;
  appendInteger(build, replicaCountField, 1);
  appendInteger(build, partitionCountField, 1);
  if (device) {
    std::string ids, devices, assignment;
    appendVarint(ids, static_cast<uint64_t>(*device));
    appendBytes(devices, computationDeviceIdsField, ids);
    appendInteger(assignment, assignmentReplicaCountField, 1);
    appendInteger(assignment, assignmentComputationCountField, 1);
    appendBytes(assignment, assignmentComputationDevicesField, devices);
    appendBytes(build, deviceAssignmentField, assignment);
  }
  std::string options;
  appendBytes(options, executableBuildOptionsField, build);
  for (const auto &[name, isOn] : switches) {
    std::string value, entry;
    appendInteger(value, boolOverrideField, isOn);
    appendBytes(entry, mapKeyField, name);
    appendBytes(entry, mapValueField, value);
    appendBytes(options, environmentOptionOverridesField, entry);
  }
  return options;
}

} // namespace torchere::runtime
