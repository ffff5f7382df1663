// The invariants of a program::EntryPoint, whichever file it was read from.
#include "artifact/signature.h"

#include "artifact/signature_names.h"

#include <unordered_set>

namespace torchere::artifact {

using namespace program;

namespace {

/// The flat positions of a tree's leaves: each at most once, each below the count.
class Positions {
public:
  Positions(int64_t count, std::string_view kind, std::string_view subject)
      : count(count), kind(kind), subject(subject) {}

  Status take(int64_t position) {
    if (position < 0 || position >= count)
      return fail(ErrorCode::DataLoss, "[{}] wrong position of a user {}: got {}, expected 0 to {}", subject,
                  kind, position, count - 1);
    if (!taken.insert(position).second)
      return fail(ErrorCode::DataLoss, "[{}] the position {} is taken by two user {}s", subject, position,
                  kind);
    return {};
  }
  size_t size() const { return taken.size(); }

private:
  int64_t count;
  std::string_view kind;
  std::string_view subject;
  std::unordered_set<int64_t> taken;
};

} // namespace

static Status checkType(const TensorSignature &type, bool isSymInt, std::string_view name,
                        std::string_view subject) {
  for (SymInt size : type.shape)
    if (size.isConstant() && size.constant() < 0)
      return fail(ErrorCode::DataLoss, "[{}] wrong size in the shape of \"{}\": got {}, expected at least 0",
                  subject, name, size.constant());
  if (isSymInt && (type.dtype != DType::I64 || !type.shape.empty()))
    return fail(ErrorCode::DataLoss,
                "[{}] wrong type of the int \"{}\": got {} of rank {}, expected int64 of rank 0", subject,
                name, dtypeInfo(type.dtype).torchName, type.shape.size());
  return {};
}

static Status checkInputs(const EntryPoint &entryPoint, std::string_view subject) {
  Positions positions(entryPoint.userInputCount, "input", subject);
  for (const auto *inputs : {&entryPoint.inputs, &entryPoint.unusedInputs})
    for (const EntryInput &input : *inputs) {
      TORCHERE_TRY(checkType(input.type, input.isSymInt, input.name, subject));
      if (input.isInShapes && (input.source != InputSource::UserInput || !input.isSymInt))
        return fail(ErrorCode::DataLoss,
                    "[{}] shapes cannot depend on \"{}\": expected an int of the user's inputs", subject,
                    input.name);
      if (input.source == InputSource::UserInput)
        TORCHERE_TRY(positions.take(input.position));
    }
  for (const EntryInput &input : entryPoint.inputs) // an unused constant has no index
    if (input.source == InputSource::Constant && input.position < 0)
      return fail(ErrorCode::DataLoss, "[{}] wrong index of the constant \"{}\": got {}, expected at least 0",
                  subject, input.name, input.position);
  for (const ConstantInput &input : entryPoint.constantInputs)
    TORCHERE_TRY(positions.take(input.position));
  return {};
}

static Status checkStatusType(const EntryOutput &output, std::string_view subject) {
  if (output.type.dtype == DType::I32 && output.type.shape == std::vector<SymInt>{SymInt(statusSize)})
    return {};
  return fail(ErrorCode::DataLoss,
              "[{}] wrong type of the status \"{}\": got {} of rank {}, expected int32 ({},)", subject,
              output.name, dtypeInfo(output.type.dtype).torchName, output.type.shape.size(), statusSize);
}

static Status checkOutputs(const EntryPoint &entryPoint, std::string_view subject) {
  Positions positions(entryPoint.userOutputCount, "output", subject);
  size_t statuses = 0;
  for (const EntryOutput &output : entryPoint.outputs) {
    DType dtype = output.type.dtype;
    bool isInt = output.isNumber && dtype != DType::F64 && dtype != DType::Bool;
    TORCHERE_TRY(checkType(output.type, isInt, output.name, subject));
    if (output.isNumber && !output.type.shape.empty())
      return fail(ErrorCode::DataLoss, "[{}] wrong rank of the number \"{}\": got {}, expected 0", subject,
                  output.name, output.type.shape.size());
    if (output.destination == OutputDestination::Check) {
      TORCHERE_TRY(checkStatusType(output, subject));
      ++statuses;
    } else if (output.destination == OutputDestination::UserOutput) {
      TORCHERE_TRY(positions.take(output.position));
    } else if (output.destination == OutputDestination::UserInput) {
      if (output.position < 0 || output.position >= entryPoint.userInputCount)
        return fail(ErrorCode::DataLoss, "[{}] the output \"{}\" updates user input {}, expected 0 to {}",
                    subject, output.name, output.position, entryPoint.userInputCount - 1);
    } else if (output.target.empty()) {
      return fail(ErrorCode::DataLoss, "[{}] the output \"{}\" updates a {}, but names none", subject,
                  output.name, nameOf(outputDestinationNames, output.destination));
    }
  }
  for (const ConstantOutput &output : entryPoint.constantOutputs)
    TORCHERE_TRY(positions.take(output.position));
  if (statuses != (entryPoint.checks.empty() ? 0 : 1))
    return fail(ErrorCode::DataLoss, "[{}] wrong number of statuses: got {} for {} checks, expected {}",
                subject, statuses, entryPoint.checks.size(), entryPoint.checks.empty() ? 0 : 1);
  if (positions.size() != static_cast<size_t>(entryPoint.userOutputCount))
    return fail(ErrorCode::DataLoss, "[{}] wrong number of user outputs: got {}, expected {}", subject,
                positions.size(), entryPoint.userOutputCount);
  return {};
}

Status verifyEntryPoint(const EntryPoint &entryPoint, std::string_view subject) {
  for (int64_t count : {entryPoint.userInputCount, entryPoint.userOutputCount})
    if (count < 0 || count > leafLimit)
      return fail(ErrorCode::DataLoss, "[{}] wrong count of user inputs or outputs: got {}, expected 0 to {}",
                  subject, count, leafLimit);
  for (const RangeConstraint &constraint : entryPoint.rangeConstraints)
    if (constraint.range.min > constraint.range.max)
      return fail(ErrorCode::DataLoss, "[{}] empty range: got {} to {}", subject, constraint.range.min,
                  constraint.range.max);
  TORCHERE_TRY(checkInputs(entryPoint, subject));
  return checkOutputs(entryPoint, subject);
}

} // namespace torchere::artifact
