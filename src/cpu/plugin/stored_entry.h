// What stored programs have beside plans: the entry point, and who has stored them.
#pragma once

#include "cpu/execute/stored_plan.h"
#include "cpu/frontend/compile.h"

namespace torchere::cpu {

template <> struct Fields<interpreter::TensorType> {
  static auto of(auto &type) { return std::tie(type.elementType, type.shape); }
};
template <> struct Fields<interpreter::EntryArgument> {
  static auto of(auto &argument) {
    return std::tie(argument.type, argument.isDonated, argument.aliasingResult, argument.isInShapes);
  }
};
template <> struct Fields<interpreter::EntryPoint> {
  static auto of(auto &entry) {
    return std::tie(entry.name, entry.arguments, entry.results, entry.isSharded);
  }
};

/// Whether programs can be stored: whether this build has a name.
bool canStore();
/// Plans of another build are not read: their steps and fields may mean something else.
void putMaker(PlanWriter &writer, Isa isa);
/// Whether this build has stored it, for these instructions.
bool takeMaker(PlanReader &reader, Isa isa);
/// Sizes are from `lowest` on (0, or unknownSize where they may be open), and what the entry names is there.
Status verifyEntry(const interpreter::EntryPoint &entry, int64_t lowest);
/// Whether the functions take the same arguments and give the same results, whatever their names.
bool areAlike(const interpreter::EntryPoint &one, const interpreter::EntryPoint &other);

} // namespace torchere::cpu
