// Several programs as one bundle: the names of their weights, and what they share.
#include "artifact/bundle_joining.h"

#include "base/npy.h"
#include "program/weight_memory.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <set>

namespace torchere::artifact {

using namespace program;

/// Weights without elements have no memory that could differ.
static bool isSameView(const Weight &left, const Weight &right) {
  if (left.elementCount() == 0)
    return left.dtype == right.dtype && left.shape == right.shape && left.strides == right.strides;
  return viewOf(left) == viewOf(right);
}

/// Whether they have one type and equal elements, bit by bit. Views with gaps are not compared.
static bool isSameValue(const Weight &left, const Weight &right) {
  if (isSameView(left, right))
    return true;
  if (left.dtype != right.dtype || left.shape != right.shape || !hasData(left) || !hasData(right))
    return false;
  std::vector<int64_t> dense = denseStrides(left.shape, /*fortranOrder=*/false);
  if (left.strides != dense || right.strides != dense)
    return false;
  size_t size = static_cast<size_t>(left.elementCount()) * byteSize(left.dtype);
  return std::memcmp(left.data(), right.data(), size) == 0;
}

static bool isWeight(const EntryInput &input) {
  return input.source == InputSource::Parameter || input.source == InputSource::Buffer;
}

static bool isState(const EntryOutput &output) {
  return output.destination == OutputDestination::Parameter ||
         output.destination == OutputDestination::Buffer;
}

static std::string qualified(const Bundle &program, const std::string &name) {
  return fmt::format("{}.{}", program.functions.front().entryPoint.name, name);
}

/// The programs with a weight of whose name another program has another weight.
static std::vector<bool> findConflicts(const std::vector<Bundle> &programs) {
  std::map<std::string_view, std::vector<size_t>> owners;
  for (size_t index = 0; index < programs.size(); ++index)
    for (const auto &[name, weight] : programs[index].stateDict)
      owners[name].push_back(index);
  std::vector<bool> isInConflict(programs.size(), false);
  for (const auto &[name, indices] : owners) {
    std::string key(name);
    const Weight &first = programs[indices.front()].stateDict.at(key);
    bool areSame = std::ranges::all_of(
        indices, [&](size_t index) { return isSameView(programs[index].stateDict.at(key), first); });
    for (size_t index : indices)
      isInConflict[index] = isInConflict[index] || !areSame;
  }
  return isInConflict;
}

using Names = std::map<std::string, std::string, std::less<>>;

/// The new names of the weights of a program that is in conflict with another one.
static Names qualifiedNames(const std::vector<Bundle> &programs, const std::vector<bool> &isInConflict,
                            size_t index) {
  Names names;
  for (const auto &[name, weight] : programs[index].stateDict) {
    if (name == generatorBuffer)
      continue;
    for (size_t owner = 0; owner <= index; ++owner) {
      auto found = programs[owner].stateDict.find(name);
      if (isInConflict[owner] && found != programs[owner].stateDict.end() &&
          isSameView(found->second, weight)) {
        names.emplace(name, qualified(programs[owner], name));
        break;
      }
    }
  }
  return names;
}

static void renameWeights(Bundle &program, const Names &names) {
  auto rename = [&](std::string &name) {
    if (auto found = names.find(name); found != names.end())
      name = found->second;
  };
  std::unordered_map<std::string, Weight> renamed;
  for (auto &[name, weight] : program.stateDict) {
    std::string key = name;
    rename(key);
    weight.name = key;
    renamed.emplace(std::move(key), std::move(weight));
  }
  program.stateDict = std::move(renamed);
  for (Function &function : program.functions) {
    for (auto *inputs : {&function.entryPoint.inputs, &function.entryPoint.unusedInputs})
      for (EntryInput &input : *inputs)
        if (isWeight(input))
          rename(input.name);
    for (EntryOutput &output : function.entryPoint.outputs)
      if (isState(output))
        rename(output.target);
  }
}

/// Constants are supplied by their names as well, so each name stands for one value.
static void renameConstants(Bundle &program, const Bundle &joined) {
  for (Weight &constant : program.constants) {
    bool isTaken = std::ranges::any_of(joined.constants, [&](const Weight &other) {
      return other.name == constant.name && !isSameValue(other, constant);
    });
    if (isTaken || joined.stateDict.contains(constant.name))
      constant.name = qualified(program, constant.name);
  }
}

/// The bytes from the first to the last element; empty without elements.
static std::pair<const std::byte *, const std::byte *> extentOf(const Weight &weight) {
  if (weight.elementCount() == 0 || !hasData(weight))
    return {nullptr, nullptr};
  int64_t first = 0, last = 0;
  for (size_t axis = 0; axis < weight.shape.size(); ++axis) {
    int64_t extent = (weight.shape[axis] - 1) * weight.strides[axis];
    (extent < 0 ? first : last) += extent;
  }
  auto size = static_cast<int64_t>(byteSize(weight.dtype));
  return {weight.data() + first * size, weight.data() + (last + 1) * size};
}

static bool overlap(const Weight &left, const Weight &right) {
  auto [leftBegin, leftEnd] = extentOf(left);
  auto [rightBegin, rightEnd] = extentOf(right);
  return leftBegin < rightEnd && rightBegin < leftEnd;
}

static std::set<std::string> statesOf(const Bundle &program) {
  std::set<std::string> states;
  for (const Function &function : program.functions)
    for (const EntryOutput &output : function.entryPoint.outputs)
      if (isState(output))
        states.insert(output.target);
  return states;
}

/// A program updates the views that it knows, so a view that only a reader knows would keep its old value.
static Status checkOverlaps(const Bundle &writer, const Bundle &reader) {
  auto isKnown = [&](const Weight &weight) {
    return std::ranges::any_of(writer.stateDict,
                               [&](const auto &entry) { return isSameView(entry.second, weight); });
  };
  for (const std::string &state : statesOf(writer))
    for (const auto &[name, weight] : reader.stateDict)
      if (overlap(writer.stateDict.at(state), weight) && !isKnown(weight))
        return invalidArgument("[{}] function \"{}\" has it as another view of memory that \"{}\" writes as "
                               "\"{}\": expected the "
                               "same view, or memory of its own",
                               name, reader.functions.front().entryPoint.name,
                               writer.functions.front().entryPoint.name, state);
  return {};
}

/// Adds the constants that are not there yet, and returns the places of all. A program's own constants stay
/// apart: each has a name.
static std::vector<int64_t> addConstants(Bundle &bundle, const std::vector<Weight> &constants) {
  size_t earlier = bundle.constants.size();
  std::vector<int64_t> places;
  for (const Weight &constant : constants) {
    size_t place = 0;
    while (place < earlier && !isSameValue(bundle.constants[place], constant))
      ++place;
    if (place == earlier) {
      place = bundle.constants.size();
      bundle.constants.push_back(constant);
    }
    places.push_back(static_cast<int64_t>(place));
  }
  return places;
}

static Status addWeights(Bundle &bundle, const std::unordered_map<std::string, Weight> &weights,
                         std::string_view function) {
  for (const auto &[name, weight] : weights) {
    auto [there, isNew] = bundle.stateDict.emplace(name, weight);
    if (!isNew && !isSameView(there->second, weight))
      return fail(ErrorCode::AlreadyExists,
                  "[{}] function \"{}\" has another weight of this name than the functions before it", name,
                  function);
  }
  return {};
}

/// With the constants at other places than before. What is out of range stays so, for verify().
static void appendFunction(Bundle &bundle, Function function, const std::vector<int64_t> &places) {
  for (EntryInput &input : function.entryPoint.inputs)
    if (input.source == InputSource::Constant) {
      auto old = static_cast<size_t>(input.position);
      input.position = old < places.size() ? places[old] : std::numeric_limits<int64_t>::max();
    }
  bundle.functions.push_back(std::move(function));
}

Status addFunction(Bundle &bundle, Function function,
                   const std::unordered_map<std::string, Weight> &stateDict,
                   const std::vector<Weight> &constants) {
  TORCHERE_TRY(addWeights(bundle, stateDict, function.entryPoint.name));
  std::vector<int64_t> places = addConstants(bundle, constants);
  appendFunction(bundle, std::move(function), places);
  return {};
}

Result<Bundle> joinBundles(std::vector<Bundle> programs) {
  for (const Bundle &program : programs)
    TORCHERE_TRY(verify(program));
  for (const Bundle &writer : programs)
    for (const Bundle &reader : programs)
      if (&writer != &reader)
        TORCHERE_TRY(checkOverlaps(writer, reader));
  std::vector<bool> isInConflict = findConflicts(programs);
  std::vector<Names> names;
  for (size_t index = 0; index < programs.size(); ++index)
    names.push_back(isInConflict[index] ? qualifiedNames(programs, isInConflict, index) : Names());
  Bundle joined;
  for (size_t index = 0; index < programs.size(); ++index) {
    Bundle &program = programs[index];
    renameWeights(program, names[index]);
    renameConstants(program, joined);
    joined.hasWeights = joined.hasWeights && program.hasWeights;
    TORCHERE_TRY(addWeights(joined, program.stateDict, program.functions.front().entryPoint.name));
    std::vector<int64_t> places = addConstants(joined, program.constants);
    for (Function &function : program.functions)
      appendFunction(joined, std::move(function), places);
  }
  TORCHERE_TRY(verify(joined));
  return joined;
}

} // namespace torchere::artifact
