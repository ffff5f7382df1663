// Implements the parsing of CompileOptionsProto, field by field.
#include "pjrt/compile_options.h"

#include <functional>
#include <optional>

namespace torchere::pjrt {

// Field numbers of CompileOptionsProto, ExecutableBuildOptionsProto and DeviceAssignmentProto.
static constexpr uint64_t tupledArgumentsField = 2;
static constexpr uint64_t buildOptionsField = 3;
static constexpr uint64_t portableField = 4;
static constexpr uint64_t replicaCountField = 4;
static constexpr uint64_t partitionCountField = 5;
static constexpr uint64_t deviceAssignmentField = 9;
static constexpr uint64_t assignmentReplicaCountField = 1;
static constexpr uint64_t assignmentComputationCountField = 2;
static constexpr uint64_t computationDevicesField = 3;
static constexpr uint64_t deviceIdsField = 1;

namespace {

/// One field of a message: a number, or bytes (a message, a string, packed numbers).
struct Field {
  uint64_t number = 0;
  std::optional<uint64_t> value;
  std::string_view bytes;
};

/// Splits a message in protobuf's wire form into its fields.
class Message {
public:
  explicit Message(std::string_view bytes) : rest(bytes) {}

  bool isAtEnd() const { return rest.empty(); }

  Result<uint64_t> varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && !rest.empty(); shift += 7) {
      auto byte = static_cast<uint8_t>(rest.front());
      rest.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80)
        return value;
    }
    return malformed();
  }

  Result<Field> field() {
    TORCHERE_ASSIGN(uint64_t tag, varint());
    Field field;
    field.number = tag >> 3;
    switch (tag & 7) {
    case 0: {
      TORCHERE_ASSIGN(field.value, varint());
      return field;
    }
    case 1:
      return fixed(field, 8);
    case 2: {
      TORCHERE_ASSIGN(uint64_t size, varint());
      return fixed(field, size);
    }
    case 5:
      return fixed(field, 4);
    default:
      return malformed();
    }
  }

private:
  static tl::unexpected<torchere::Error> malformed() {
    return invalidArgument("[compile options] malformed: expected a CompileOptionsProto");
  }
  Result<Field> fixed(Field field, uint64_t size) {
    if (size > rest.size())
      return malformed();
    field.bytes = rest.substr(0, size);
    rest.remove_prefix(size);
    return field;
  }

  std::string_view rest;
};

Status forEachField(std::string_view bytes, const std::function<Status(const Field &)> &visit) {
  for (Message message(bytes); !message.isAtEnd();) {
    TORCHERE_ASSIGN(Field field, message.field());
    TORCHERE_TRY(visit(field));
  }
  return {};
}

struct Assignment {
  int64_t replicaCount = 0, partitionCount = 0;
  std::vector<std::vector<int64_t>> ids; ///< [partition][replica]
};

Result<std::vector<int64_t>> readDeviceIds(std::string_view bytes) {
  std::vector<int64_t> ids;
  TORCHERE_TRY(forEachField(bytes, [&](const Field &field) -> Status {
    if (field.number != deviceIdsField)
      return {};
    if (field.value) {
      ids.push_back(static_cast<int64_t>(*field.value));
      return {};
    }
    for (Message packed(field.bytes); !packed.isAtEnd();) {
      TORCHERE_ASSIGN(uint64_t id, packed.varint());
      ids.push_back(static_cast<int64_t>(id));
    }
    return {};
  }));
  return ids;
}

Result<Assignment> readAssignment(std::string_view bytes) {
  Assignment assignment;
  TORCHERE_TRY(forEachField(bytes, [&](const Field &field) -> Status {
    if (field.number == assignmentReplicaCountField && field.value)
      assignment.replicaCount = static_cast<int64_t>(*field.value);
    if (field.number == assignmentComputationCountField && field.value)
      assignment.partitionCount = static_cast<int64_t>(*field.value);
    if (field.number == computationDevicesField && !field.value) {
      TORCHERE_ASSIGN(std::vector<int64_t> ids, readDeviceIds(field.bytes));
      assignment.ids.push_back(std::move(ids));
    }
    return {};
  }));
  return assignment;
}

Status takeAssignment(const Assignment &assignment, CompileOptions &options) {
  bool fits = assignment.replicaCount == options.replicaCount &&
              assignment.partitionCount == options.partitionCount &&
              assignment.ids.size() == static_cast<size_t>(options.partitionCount);
  for (const std::vector<int64_t> &ids : assignment.ids)
    fits = fits && ids.size() == static_cast<size_t>(options.replicaCount);
  if (!fits)
    return invalidArgument(
        "[compile options] device assignment that does not fit: got {} replicas of {} partitions, "
        "expected {} of {}",
        assignment.replicaCount, assignment.partitionCount, options.replicaCount, options.partitionCount);
  for (size_t replica = 0; replica < static_cast<size_t>(options.replicaCount); ++replica)
    for (const std::vector<int64_t> &ids : assignment.ids)
      options.deviceIds.push_back(ids[replica]);
  return {};
}

/// protobuf omits a number that is 0, and 0 stands for 1 here.
int64_t countOf(uint64_t value) {
  return value == 0 ? 1 : static_cast<int64_t>(value);
}

Status readBuildOptions(std::string_view bytes, CompileOptions &options) {
  std::optional<Assignment> assignment;
  TORCHERE_TRY(forEachField(bytes, [&](const Field &field) -> Status {
    if (field.number == replicaCountField && field.value)
      options.replicaCount = countOf(*field.value);
    if (field.number == partitionCountField && field.value)
      options.partitionCount = countOf(*field.value);
    if (field.number == deviceAssignmentField && !field.value) {
      TORCHERE_ASSIGN(assignment, readAssignment(field.bytes));
    }
    return {};
  }));
  int64_t processes = 0;
  if (options.replicaCount < 1 || options.partitionCount < 1 ||
      __builtin_mul_overflow(options.replicaCount, options.partitionCount, &processes) ||
      processes > maxProcessCount)
    return invalidArgument("[compile options] number of processes out of range: got {} replicas of {} "
                           "partitions, expected 1 to {} in all",
                           options.replicaCount, options.partitionCount, maxProcessCount);
  return assignment ? takeAssignment(*assignment, options) : Status{};
}

void appendVarint(std::string &out, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void appendBytes(std::string &out, uint64_t field, const std::string &bytes) {
  appendVarint(out, field << 3 | 2);
  appendVarint(out, bytes.size());
  out += bytes;
}

} // namespace

Result<CompileOptions> CompileOptions::parse(std::string_view bytes) {
  CompileOptions options;
  TORCHERE_TRY(forEachField(bytes, [&](const Field &field) -> Status {
    if (field.number == tupledArgumentsField && field.value.value_or(0))
      return fail(ErrorCode::Unimplemented,
                  "[compile options] arguments in a tuple: expected them one by one");
    if (field.number == portableField && field.value)
      options.isPortable = *field.value;
    if (field.number == buildOptionsField && !field.value)
      return readBuildOptions(field.bytes, options);
    return {};
  }));
  return options;
}

std::string serializeDeviceAssignment(int64_t replicaCount, int64_t partitionCount,
                                      const std::vector<int64_t> &deviceIds) {
  std::string bytes;
  appendVarint(bytes, assignmentReplicaCountField << 3);
  appendVarint(bytes, static_cast<uint64_t>(replicaCount));
  appendVarint(bytes, assignmentComputationCountField << 3);
  appendVarint(bytes, static_cast<uint64_t>(partitionCount));
  for (int64_t partition = 0; partition < partitionCount; ++partition) {
    std::string ids, devices;
    for (int64_t replica = 0; replica < replicaCount; ++replica)
      appendVarint(
          ids, static_cast<uint64_t>(deviceIds[static_cast<size_t>(replica * partitionCount + partition)]));
    appendBytes(devices, deviceIdsField, ids);
    appendBytes(bytes, computationDevicesField, devices);
  }
  return bytes;
}

} // namespace torchere::pjrt
