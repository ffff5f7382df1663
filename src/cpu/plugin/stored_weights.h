// StoredWeights: what a plan has of its weights in a form that other processes can map.
#pragma once

#include "cpu/execute/shared_packings.h"
#include "cpu/frontend/compile.h"
#include "cpu/plugin/packed_store.h"

namespace torchere::cpu {

struct WeightSet;

/// The values of the weight program that steps read at run time, then what steps pack.
class StoredWeights {
public:
  using Arguments = std::vector<pjrt_server::Argument>;
  StoredWeights(const CompiledModule &compiled, const WeightProgram &program, Isa isa);

  /// Whether there is anything to store, made by steps that can be told from others.
  bool hasSections() const { return !identity.empty() && !sizes.empty(); }
  PackedSubject subjectOf(const Arguments &arguments) const;
  /// None if a step has not packed what it should. They lie in the set's memory and in `copies`.
  std::vector<std::span<const std::byte>> sectionsOf(const Arguments &arguments, const WeightSet &set,
                                                     std::vector<Packed> &copies) const;
  /// Gives the set its values, and makes the steps' copies known, which last as long as the result or a step
  /// that has found them.
  std::vector<Packed> adopt(const PackedStore::Mapped &mapped, const Arguments &arguments,
                            WeightSet &set) const;

private:
  uint64_t contentsOf(size_t argument, const Arguments &arguments, const WeightSet &set) const;

  std::string name;
  size_t argumentCount;
  std::string identity;          ///< of all but the contents; empty if it is not known
  std::vector<size_t> arguments; ///< that the sections depend on
  std::vector<size_t> values;    ///< that are kept
  std::vector<Packing> packings;
  std::vector<int64_t> sizes; ///< of the sections
};

/// What the plan's steps pack of weights, each once.
std::vector<Packing> packingsOfWeights(const CompiledModule &compiled);

} // namespace torchere::cpu
