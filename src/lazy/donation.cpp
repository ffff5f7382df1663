// Pairs of arrays that die and results of their type.
#include "lazy/donation.h"

namespace torchere::lazy {

int64_t byteSizeOf(const TensorType &type) {
  auto size = static_cast<int64_t>(c10::elementSize(type.dtype));
  for (int64_t dimension : type.sizes)
    size *= dimension;
  return size;
}

namespace {

class DonationFinder {
public:
  explicit DonationFinder(const Graph &graph)
      : graph(graph), isTaken(graph.leaves.size()), isServed(graph.outputs.size()) {}

  std::vector<session::InputDonation> find() {
    for (uint32_t output = 0; output < graph.outputs.size(); ++output)
      if (std::optional<uint32_t> leaf = ancestor(graph.outputs[output]); leaf && isFree(*leaf))
        pair(*leaf, output);
    for (uint32_t leaf = 0; leaf < graph.leaves.size(); ++leaf)
      for (uint32_t output = 0; output < graph.outputs.size() && isFree(leaf); ++output)
        if (!isServed[output] && typeOf(graph.outputs[output]) == graph.leaves[leaf].type)
          pair(leaf, output);
    return std::move(found);
  }

private:
  const TensorType *typeOf(uint64_t word) const {
    return isLeafWord(word) ? graph.leaves[numberIn(word)].type
                            : graph.calls[numberIn(word)]->results[resultIn(word)];
  }
  bool isFree(uint32_t leaf) const { return graph.leaves[leaf].isDead && !isTaken[leaf]; }

  /// The leaf that is reached by first operands of the same type.
  std::optional<uint32_t> ancestor(uint64_t word) const {
    const TensorType *type = typeOf(word);
    while (!isLeafWord(word)) {
      auto [first, end] = graph.operandsOf(numberIn(word));
      if (first == end || typeOf(*first) != type)
        return std::nullopt;
      word = *first;
    }
    return numberIn(word);
  }

  void pair(uint32_t leaf, uint32_t output) {
    isTaken[leaf] = isServed[output] = true;
    found.push_back({leaf, output});
  }

  const Graph &graph;
  std::vector<bool> isTaken, isServed;
  std::vector<session::InputDonation> found;
};

} // namespace

std::vector<session::InputDonation> findDonations(const Graph &graph) {
  return DonationFinder(graph).find();
}

} // namespace torchere::lazy
