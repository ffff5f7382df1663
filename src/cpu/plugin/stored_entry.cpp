// Implements the storing of what programs have beside plans.
#include "cpu/plugin/stored_entry.h"

#include "base/library_identity.h"

#include <algorithm>

namespace torchere::cpu {

using interpreter::EntryArgument;
using interpreter::EntryPoint;
using interpreter::TensorType;

static const std::string &ownBuild() {
  static const char inThisLibrary = 0;
  static const std::string identity = libraryIdentity(&inThisLibrary);
  return identity;
}

bool canStore() {
  return !ownBuild().empty();
}

void putMaker(PlanWriter &writer, Isa isa) {
  writer.put(ownBuild());
  writer.put(std::string(isaName(isa)));
}

bool takeMaker(PlanReader &reader, Isa isa) {
  std::string build, instructions;
  reader.get(build);
  reader.get(instructions);
  return build == ownBuild() && instructions == isaName(isa);
}

static Status verifyType(const TensorType &type, int64_t lowest) {
  TORCHERE_TRY(expectWithin("sizes of a tensor", type.shape, lowest, mostElements));
  std::vector<int64_t> known = type.shape;
  std::erase(known, interpreter::unknownSize);
  return expect(boundedProduct(known) >= 0, "a tensor: expected fewer than {} elements", mostElements);
}

Status verifyEntry(const EntryPoint &entry, int64_t lowest) {
  for (const EntryArgument &argument : entry.arguments) {
    TORCHERE_TRY(verifyType(argument.type, lowest));
    bool isSize = isInteger(argument.type.elementType) && argument.type.isStatic() &&
                  boundedProduct(argument.type.shape) == 1;
    TORCHERE_TRY(expect(!argument.isInShapes || isSize,
                        "a size that is an argument: got {}, expected an integer", argument.type.text()));
    size_t alias = argument.aliasingResult.value_or(0);
    TORCHERE_TRY(expect(!argument.aliasingResult || alias < entry.results.size(),
                        "result {}: expected one of {}", alias, entry.results.size()));
  }
  for (const TensorType &type : entry.results)
    TORCHERE_TRY(verifyType(type, lowest));
  return {};
}

bool areAlike(const EntryPoint &one, const EntryPoint &other) {
  auto isSame = [](const EntryArgument &a, const EntryArgument &b) {
    return a.type == b.type && a.isDonated == b.isDonated && a.aliasingResult == b.aliasingResult &&
           a.isInShapes == b.isInShapes;
  };
  return std::ranges::equal(one.arguments, other.arguments, isSame) && one.results == other.results &&
         one.isSharded == other.isSharded;
}

} // namespace torchere::cpu
