// Implements StoredWeights.
#include "cpu/plugin/stored_weights.h"

#include "cpu/plugin/stored_module.h"
#include "cpu/plugin/weight_sets.h"

#include <algorithm>
#include <set>

namespace torchere::cpu {

std::vector<Packing> packingsOfWeights(const CompiledModule &compiled) {
  std::vector<Packing> all, distinct;
  addPackingsOf(compiled.plan->steps, all);
  std::set<std::pair<size_t, std::string_view>> seen;
  for (const Packing &packing : all) {
    bool isWeight = packing.argument >= compiled.isWeight.size() || compiled.isWeight[packing.argument];
    if (isWeight && seen.emplace(packing.argument, packing.layout).second)
      distinct.push_back(packing);
  }
  return distinct;
}

StoredWeights::StoredWeights(const CompiledModule &compiled, const WeightProgram &program, Isa isa)
    : name(compiled.entry.name), argumentCount(compiled.entry.arguments.size()),
      identity(storeWeightProgram(program, isa)), arguments(program.arguments),
      packings(packingsOfWeights(compiled)) {
  for (size_t value = 0; value < program.isKept.size(); ++value)
    if (program.isKept[value]) {
      values.push_back(value);
      sizes.push_back(program.plan.buffers[program.plan.results[value]].bytes);
    }
  for (const Packing &packing : packings) {
    sizes.push_back(packing.bytes);
    if (packing.argument < argumentCount)
      arguments.push_back(packing.argument);
  }
  std::sort(arguments.begin(), arguments.end());
  arguments.erase(std::unique(arguments.begin(), arguments.end()), arguments.end());
}

/// A part of them: enough to tell most models of one shape apart, without reading all.
static void addSample(Digest &digest, std::span<const std::byte> contents) {
  constexpr size_t most = 512;
  digest.add(contents.first(std::min(most, contents.size())));
  digest.add(contents.last(std::min(most, contents.size())));
}

PackedSubject StoredWeights::subjectOf(const Arguments &given) const {
  PackedSubject subject{name, {}, {}, sizes};
  Digest digest;
  digest.addField(identity);
  for (const Packing &packing : packings)
    digest.addField(uint64_t{packing.argument}).addField(packing.layout);
  for (int64_t size : sizes)
    digest.addField(static_cast<uint64_t>(size));
  for (size_t argument : arguments) {
    const interpreter::Tensor &tensor = *given[argument].tensor;
    digest.addField(uint64_t{argument}).addField(static_cast<uint64_t>(tensor.type()));
    for (int64_t size : tensor.shape())
      digest.addField(static_cast<uint64_t>(size));
    subject.weights.push_back(tensor.bytes());
    addSample(digest, subject.weights.back());
  }
  subject.key = digest.finish();
  return subject;
}

uint64_t StoredWeights::contentsOf(size_t argument, const Arguments &given, const WeightSet &set) const {
  return argument < argumentCount ? given[argument].contents->id()
                                  : set.lifetimes[argument - argumentCount]->id();
}

std::vector<std::span<const std::byte>>
StoredWeights::sectionsOf(const Arguments &given, const WeightSet &set, std::vector<Packed> &copies) const {
  std::vector<std::span<const std::byte>> sections;
  for (size_t value : values)
    sections.emplace_back(set.values[value], static_cast<size_t>(sizes[sections.size()]));
  for (const Packing &packing : packings) {
    Packed copy = findPacking(contentsOf(packing.argument, given, set), packing.layout);
    if (!copy)
      return {};
    sections.emplace_back(copy.get(), static_cast<size_t>(packing.bytes));
    copies.push_back(std::move(copy));
  }
  return sections;
}

std::vector<Packed> StoredWeights::adopt(const PackedStore::Mapped &mapped, const Arguments &given,
                                         WeightSet &set) const {
  for (size_t index = 0; index < values.size(); ++index)
    set.values[values[index]] = const_cast<std::byte *>(mapped.sections[index]); // weights are never written
  set.memory = mapped.file;
  std::vector<Packed> copies;
  for (size_t index = 0; index < packings.size(); ++index) {
    copies.emplace_back(mapped.file, mapped.sections[values.size() + index]);
    addPacking(contentsOf(packings[index].argument, given, set), packings[index].layout, copies.back());
  }
  return copies;
}

} // namespace torchere::cpu
